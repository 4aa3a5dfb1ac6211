// Every page, in both languages, light and dark, wide and narrow: accessible, quiet, and on its own origin.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import {
  type Look,
  browserTest,
  noBrowser,
  openBrowser,
  signIn,
  type TestBrowser,
  type Visitor,
} from '../support/browser.ts'
import { createSampleData, type SampleData } from '../support/sample-data.ts'
import { startService, type TestService } from '../support/service.ts'
import { accountPages, operatorPages } from './pages.ts'

let service: TestService
let browser: TestBrowser
let people: SampleData

/** What "before" has started, also when a later step of it failed. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
  people = await createSampleData(service)
})
after(() => started.disposeAsync())

const looks: readonly (readonly [string, Look])[] = [
  ['Chinese, light, wide', { language: 'zh', theme: 'light' }],
  ['English, dark, phone', { language: 'en', theme: 'dark', width: 390, height: 844 }],
]

/** Fonts differ from machine to machine, so a few pixels more are no finding. */
const wideLists = ({ page }: Visitor) =>
  page.evaluate(
    `[...document.querySelectorAll('.ant-table-content')].filter((list) => list.scrollWidth > list.clientWidth + 24).length`,
  )

for (const [name, look] of looks) {
  describe(name, () => {
    browserTest('the sign-in page', async () => {
      await using visitor = await browser.visit(service.url, look)
      await visitor.page.goto('/console/sign-in')
      await visitor.page.locator('form').waitFor()
      assert.deepEqual(await visitor.findSeriousViolations(), [])
      assert.deepEqual(visitor.problems, [])
    })

    for (const [who, pages] of [
      ['holder', accountPages],
      ['operator', operatorPages],
    ] as const) {
      browserTest(`the pages of the ${who}`, async () => {
        await using visitor = await browser.visit(service.url, look)
        await signIn(visitor, people[who])
        // One loading for all of them: what costs time is the checking.
        for (const path of pages) {
          await visitor.navigateTo(path)
          const overflow = await visitor.page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          )
          assert.equal(overflow, 0, `${path} scrolls sideways`)
          // Nor does any list on it: what can be done with a row would be out of sight.
          assert.equal(await wideLists(visitor), 0, `a list on ${path} scrolls sideways`)
          assert.deepEqual(await visitor.findSeriousViolations(), [], path)
        }
        assert.deepEqual(visitor.problems, [])
      })
    }
  })
}

for (const [name, look] of [
  ['English, 1280 wide', { language: 'en' }],
  ['Chinese, phone', { language: 'zh', width: 390, height: 844 }],
] as const) {
  browserTest(`nothing scrolls sideways: ${name}`, async () => {
    for (const [who, pages] of [
      ['holder', accountPages],
      ['operator', operatorPages],
    ] as const) {
      await using visitor = await browser.visit(service.url, look)
      await signIn(visitor, people[who])
      for (const path of pages) {
        await visitor.navigateTo(path)
        const overflow = await visitor.page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        assert.equal(overflow, 0, `${path} scrolls sideways`)
        assert.equal(await wideLists(visitor), 0, `a list on ${path} scrolls sideways`)
      }
    }
  })
}

browserTest('language, theme and navigation are chosen by hand and stay', async () => {
  await using visitor = await browser.visit(service.url, { width: 390, height: 844 })
  const { page } = visitor
  await signIn(visitor, people.holder)
  await page.getByRole('heading', { name: '首页' }).waitFor()
  await page.getByRole('button', { name: 'EN' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.getByRole('button', { name: 'Theme' }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Requests' }).click()
  await page.getByRole('heading', { name: 'Requests' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Requests' }).waitFor()
  assert.equal(await page.evaluate('document.documentElement.style.colorScheme'), 'dark')
  assert.equal(await page.evaluate('document.documentElement.lang'), 'en')
})

browserTest('everything is within reach of the keyboard', async () => {
  await using visitor = await browser.visit(service.url)
  const { page } = visitor
  await signIn(visitor, people.operator)
  await page.getByRole('heading', { name: '总览' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('域名')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: '域名池' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill(people.holder.username)
  await page.getByRole('option', { name: /账户/ }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: '账户' }).getByText(people.holder.username).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: '账户' }).waitFor({ state: 'hidden' })
})
