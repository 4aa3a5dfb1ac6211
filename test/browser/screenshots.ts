// `npm run screenshots`: pictures of the main pages into docs/images. With a folder as argument, every page in every look into it;
// looks named after it (en-dark-phone …) are the only ones taken.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { type Look, openBrowser, signIn, type TestBrowser } from '../support/browser.ts'
import { fillWithSamples, type SampleData } from '../support/sample-data.ts'
import { root } from '../support/root.ts'
import { startService } from '../support/service.ts'
import { accountPages, operatorPages } from './pages.ts'

interface Shot {
  readonly name: string
  readonly path: string
  readonly as: keyof SampleData
  readonly look: Look
  /** To the end of the page, not only what fits the window. */
  readonly whole?: boolean
  /** What is done on the page before the picture is taken. */
  readonly first?: (page: Page) => Promise<void>
}

const wide = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }

async function writeMessage(page: Page): Promise<void> {
  await page.getByLabel('手机号').fill('13800138000')
  await page.getByLabel('code', { exact: true }).fill('482913')
  await page.getByText('本条消耗').waitFor()
}

/** Few and small: these are looked at by people who decide whether to read on. */
const mainShots: readonly Shot[] = [
  { name: 'home', path: '/', as: 'holder', look: wide },
  { name: 'home-dark-en', path: '/', as: 'holder', look: { ...wide, theme: 'dark', language: 'en' } },
  { name: 'home-phone', path: '/', as: 'holder', look: phone },
  { name: 'requests', path: '/requests', as: 'holder', look: wide },
  { name: 'keys', path: '/keys', as: 'holder', look: wide },
  { name: 'credits', path: '/credits', as: 'holder', look: wide },
  { name: 'shortlink', path: '/shortlink', as: 'holder', look: wide },
  { name: 'sms', path: '/sms?tab=send&template=CODE_LOGIN', as: 'holder', look: wide, first: writeMessage },
  { name: 'overview', path: '/operator/overview', as: 'operator', look: wide },
  { name: 'accounts', path: '/operator/accounts', as: 'operator', look: wide },
]

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
    for (const { name, path, first, whole = false } of group) {
      await visitor.page.goto(`/console${path}`)
      await visitor.page.waitForLoadState('networkidle')
      await first?.(visitor.page)
      await visitor.page.waitForTimeout(400)
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
  const people = await fillWithSamples(service)
  await takeAll(browser, service.url, people, wanted === undefined ? mainShots : everyShot(chosen), folder)
}
process.exit(0)
