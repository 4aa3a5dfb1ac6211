// `npm run screenshots`: screenshots of the main pages in both languages in docs/images. With a folder as argument: every page
// in every look in that folder, or only in the looks that follow (en-dark-phone …).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import type { Language } from '../../contract/text.ts'
import { type Look, openBrowser, signIn, type TestBrowser } from '../support/browser.ts'
import { createSampleData, type SampleData } from '../support/sample-data.ts'
import { root } from '../support/root.ts'
import { startService, type TestService } from '../support/service.ts'
import { accountPages, operatorPages } from './pages.ts'

interface Screenshot {
  readonly name: string
  readonly path: string
  readonly as: keyof SampleData
  readonly look: Look
  /** The full page as PNG, instead of the visible part as WebP. */
  readonly fullPage?: boolean
}

const wide = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }

/** The screenshots of the READMEs; each shows its language. */
function mainShots(language: Language): readonly Screenshot[] {
  const suffix = language === 'zh' ? 'zh-CN' : 'en'
  const look = { ...wide, language }
  return [
    { name: `home.${suffix}`, path: '/', as: 'holder', look },
    { name: `home-dark.${suffix}`, path: '/', as: 'holder', look: { ...look, theme: 'dark' } },
    { name: `shortlink.${suffix}`, path: '/shortlink', as: 'holder', look },
    { name: `overview.${suffix}`, path: '/operator/overview', as: 'operator', look },
  ]
}

/** Translates the Chinese titles of the sample links for the English screenshots. */
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

/** Full pages in both languages, both themes, and two sizes. */
function everyShot(chosen: readonly string[]): readonly Screenshot[] {
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
  const selected = chosen.length === 0 ? looks : looks.filter(({ name }) => chosen.includes(name))
  return selected.flatMap(({ name, look }) =>
    pages.map(({ path, as }) => ({
      name: `${path.replaceAll(/\W+/g, '-').slice(1) || 'home'}.${name}`,
      path,
      as,
      look,
      fullPage: true,
    })),
  )
}

/** A third of the size: the pictures are part of the repository. */
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  const address: unknown = await page.evaluate(`new Promise((resolve) => {
    const picture = new Image()
    picture.onload = () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: picture.width, height: picture.height })
      canvas.getContext('2d').drawImage(picture, 0, 0)
      resolve(canvas.toDataURL('image/webp', 0.9))
    }
    picture.src = 'data:image/png;base64,${png.toString('base64')}'
  })`)
  return Buffer.from(String(address).split(',')[1]!, 'base64')
}

async function takeAll(
  browser: TestBrowser,
  url: string,
  accounts: SampleData,
  shots: readonly Screenshot[],
  folder: string,
) {
  const groups = Map.groupBy(shots, ({ as, look }) => JSON.stringify([as, look]))
  for (const group of groups.values()) {
    const { as, look } = group[0]!
    await using visitor = await browser.visit(url, look)
    await signIn(visitor, accounts[as])
    for (const { name, path, fullPage = false } of group) {
      await visitor.page.goto(`/console${path}`)
      await visitor.page.waitForLoadState('networkidle')
      // The chart library is loaded after the page.
      await visitor.page.waitForTimeout(1_500)
      const png = await visitor.page.screenshot({ animations: 'disabled', fullPage })
      if (fullPage) writeFileSync(join(folder, `${name}.png`), png)
      else writeFileSync(join(folder, `${name}.webp`), await toWebp(visitor.page, png))
      process.stdout.write(`${name}\n`)
    }
    if (visitor.problems.length > 0) process.stdout.write(`  ${visitor.problems.join('\n  ')}\n`)
  }
}

const [folderArgument, ...chosen] = process.argv.slice(2)
const folder = folderArgument === undefined ? join(root, 'docs/images') : resolve(folderArgument)
mkdirSync(folder, { recursive: true })
{
  await using service = await startService('sqlite')
  await using browser = await openBrowser()
  const accounts = await createSampleData(service)
  if (folderArgument === undefined) {
    await takeAll(browser, service.url, accounts, mainShots('zh'), folder)
    await translateTitles(service)
    await takeAll(browser, service.url, accounts, mainShots('en'), folder)
  } else {
    await takeAll(browser, service.url, accounts, everyShot(chosen), folder)
  }
}
process.exit(0)
