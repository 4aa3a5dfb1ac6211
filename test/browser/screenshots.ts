// `npm run screenshots`: pictures of the main pages in both languages into docs/images. With a folder as argument, every page in every look into it;
// looks named after it (en-dark-phone …) are the only ones taken.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Language } from '../../contract/text.ts'
import { type Look, openBrowser, signIn, type TestBrowser } from '../support/browser.ts'
import { createSampleData, type SampleData } from '../support/sample-data.ts'
import { root } from '../support/root.ts'
import { startService, type TestService } from '../support/service.ts'
import { accountPages, operatorPages } from './pages.ts'

interface Shot {
  readonly name: string
  readonly path: string
  readonly as: keyof SampleData
  readonly look: Look
  /** To the end of the page, not only what fits the window. */
  readonly whole?: boolean
}

const wide = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }

/** Few and small: these are looked at by people who decide whether to read on. Each README shows its own language. */
function mainShots(language: Language): readonly Shot[] {
  const suffix = language === 'zh' ? 'zh-CN' : 'en'
  const look = { ...wide, language }
  return [
    { name: `home.${suffix}`, path: '/', as: 'holder', look },
    { name: `shortlink.${suffix}`, path: '/shortlink', as: 'holder', look },
    { name: `overview.${suffix}`, path: '/operator/overview', as: 'operator', look },
  ]
}

/** The sample links have Chinese titles; the English pictures shall be English throughout. */
async function translateTitles({ installation }: TestService): Promise<void> {
  const titles = {
    双十一主会场: 'Autumn sale',
    会员日: 'Members’ day',
    新品预约: 'New products',
    客服入口: 'Support',
  }
  await installation.db.write(async (tx) => {
    for (const [zh, en] of Object.entries(titles))
      await tx.run('UPDATE link SET title = ? WHERE title = ?', [en, zh])
  })
}

/** Both languages, both themes, a desk and a phone; each page to its end. */
function everyShot(chosen: readonly string[]): readonly Shot[] {
  const pages = [
    ...accountPages.map((path) => ({ path, as: 'holder' as const })),
    ...operatorPages.map((path) => ({ path, as: 'operator' as const })),
  ]
  const looks = (['zh', 'en'] as const).flatMap((language) =>
    (['light', 'dark'] as const).flatMap((theme) =>
      Object.entries({ wide: { width: 1440, height: 900 }, phone }).map(([size, area]) => ({
        name: `${language}-${theme}-${size}`,
        look: { ...area, language, theme },
      })),
    ),
  )
  const taken = chosen.length === 0 ? looks : looks.filter(({ name }) => chosen.includes(name))
  return taken.flatMap(({ name, look }) =>
    pages.map(({ path, as }) => ({
      name: `${path.replaceAll(/\W+/g, '-').slice(1) || 'home'}.${name}`,
      path,
      as,
      look,
      whole: true,
    })),
  )
}

async function takeAll(
  browser: TestBrowser,
  url: string,
  people: SampleData,
  shots: readonly Shot[],
  folder: string,
) {
  const groups = Map.groupBy(shots, ({ as, look }) => JSON.stringify([as, look]))
  for (const group of groups.values()) {
    const { as, look } = group[0]!
    await using visitor = await browser.visit(url, look)
    await signIn(visitor, people[as])
    for (const { name, path, whole = false } of group) {
      await visitor.page.goto(`/console${path}`)
      await visitor.page.waitForLoadState('networkidle')
      // The library of the charts is loaded after the page, and draws when it has come.
      await visitor.page.waitForTimeout(1_500)
      await visitor.page.screenshot({
        path: join(folder, `${name}.png`),
        animations: 'disabled',
        fullPage: whole,
      })
      process.stdout.write(`${name}\n`)
    }
    if (visitor.problems.length > 0) process.stdout.write(`  ${visitor.problems.join('\n  ')}\n`)
  }
}

const [wanted, ...chosen] = process.argv.slice(2)
const folder = wanted === undefined ? join(root, 'docs/images') : resolve(wanted)
mkdirSync(folder, { recursive: true })
{
  await using service = await startService('sqlite')
  await using browser = await openBrowser()
  const people = await createSampleData(service)
  if (wanted === undefined) {
    await takeAll(browser, service.url, people, mainShots('zh'), folder)
    await translateTitles(service)
    await takeAll(browser, service.url, people, mainShots('en'), folder)
  } else {
    await takeAll(browser, service.url, people, everyShot(chosen), folder)
  }
}
process.exit(0)
