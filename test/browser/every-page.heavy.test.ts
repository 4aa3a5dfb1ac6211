// Every page in both languages, themes and widths: accessible, without errors and without requests to other origins.
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
let accounts: SampleData

/** Closes what `before` started, even when `before` fails. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
  accounts = await createSampleData(service)
})
after(() => started.disposeAsync())

const looks: readonly (readonly [string, Look])[] = [
  ['Chinese, light, wide', { language: 'zh', theme: 'light' }],
  ['English, dark, phone', { language: 'en', theme: 'dark', width: 390, height: 844 }],
]

/** Counts tables that overflow. A few pixels are tolerated, because fonts differ between machines. */
const countWideTables = ({ page }: Visitor) =>
  page.evaluate(
    `[...document.querySelectorAll('.ant-table-content')].filter((list) => list.scrollWidth > list.clientWidth + 24).length`,
  )

/** Icons that screen readers would call by the name of their drawing, such as "plus". */
const listAnnouncedIcons = ({ page }: Visitor) =>
  page.evaluate(
    `[...document.querySelectorAll('.anticon[aria-label]')].map((icon) => icon.ariaLabel).filter((name) => /^[a-z-]+$/.test(name))`,
  )

for (const [name, look] of looks) {
  describe(name, () => {
    browserTest('the sign-in page', async () => {
      await using visitor = await browser.visit(service.url, look)
      await visitor.page.goto('/console/sign-in')
      await visitor.page.locator('form').waitFor()
      assert.deepEqual(await visitor.findViolations(), [])
      assert.deepEqual(visitor.problems, [])
    })

    for (const [role, pages] of [
      ['holder', accountPages],
      ['operator', operatorPages],
    ] as const) {
      browserTest(`the pages of the ${role}`, async () => {
        await using visitor = await browser.visit(service.url, look)
        await signIn(visitor, accounts[role])
        // Navigates without reloads, to save time.
        for (const path of pages) {
          await visitor.navigateTo(path)
          const overflow = await visitor.page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          )
          assert.equal(overflow, 0, `${path} scrolls horizontally`)
          // In a wide table the row actions would be hidden.
          assert.equal(await countWideTables(visitor), 0, `a list on ${path} scrolls horizontally`)
          assert.deepEqual(await visitor.findViolations(), [], path)
          assert.deepEqual(await listAnnouncedIcons(visitor), [], path)
        }
        assert.deepEqual(visitor.problems, [])
      })
    }
  })
}

for (const [name, look] of [
  ['English, 1280 wide', { language: 'en' }],
  ['Chinese, phone', { language: 'zh', width: 390, height: 844 }],
  ['English, phone', { language: 'en', width: 390, height: 844 }],
  // The width of 1280 pixels at 400 % zoom.
  ['Chinese, 320 wide', { language: 'zh', width: 320, height: 640 }],
  ['English, 320 wide', { language: 'en', width: 320, height: 640 }],
] as const) {
  browserTest(`no page scrolls horizontally: ${name}`, async () => {
    for (const [role, pages] of [
      ['holder', accountPages],
      ['operator', operatorPages],
    ] as const) {
      await using visitor = await browser.visit(service.url, look)
      await signIn(visitor, accounts[role])
      for (const path of pages) {
        await visitor.navigateTo(path)
        const overflow = await visitor.page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        assert.equal(overflow, 0, `${path} scrolls horizontally`)
        assert.equal(await countWideTables(visitor), 0, `a list on ${path} scrolls horizontally`)
        const titleHeight = Number(
          await visitor.page.evaluate(`document.querySelector('main h1').offsetHeight`),
        )
        assert.ok(titleHeight < 100, `the title of ${path} has room`)
      }
    }
  })
}

/** Words that continue on another line without a hyphen: their column or label is too narrow. */
const listBrokenWords = ({ page }: Visitor) =>
  page.evaluate(`(() => {
    const broken = []
    const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      for (const { 0: word, index } of text.data.matchAll(/[a-z0-9]{3,12}/gi)) {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 8))).size > 1) broken.push(word)
      }
    return broken
  })()`)

browserTest('no short word is broken: request IDs, and the mark of the sample QR code', async () => {
  for (const [role, paths] of [
    ['holder', ['/requests', '/shortlink/new']],
    ['operator', ['/operator/accounts/1/requests']],
  ] as const) {
    await using visitor = await browser.visit(service.url, { language: 'en' })
    await signIn(visitor, accounts[role])
    for (const path of paths) {
      await visitor.navigateTo(path)
      await visitor.page.locator('.row-link, .qr-sample-mark').first().waitFor()
      assert.deepEqual(await listBrokenWords(visitor), [], path)
    }
  }
})

browserTest('the details of an order and of a call are accessible', async () => {
  for (const [role, paths] of [
    ['holder', ['/orders', '/requests']],
    ['operator', ['/operator/orders']],
  ] as const) {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, accounts[role])
    for (const path of paths) {
      await visitor.navigateTo(path)
      await page.locator('.ant-table-row a.row-link').first().click()
      await page.locator('.ant-drawer h3').first().waitFor()
      assert.deepEqual(await visitor.findViolations(), [], path)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
  }
})

browserTest('language and theme stay selected after a reload', async () => {
  await using visitor = await browser.visit(service.url, { width: 390, height: 844 })
  const { page } = visitor
  await signIn(visitor, accounts.holder)
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
  const tab = await visitor.context.newPage()
  await tab.goto('/console/keys')
  await tab.getByRole('button', { name: '中' }).click()
  await tab.getByRole('heading', { name: 'API 密钥' }).waitFor()
  await page.getByRole('heading', { name: '请求记录' }).waitFor()
})

browserTest('search and dialogs work with the keyboard', async () => {
  await using visitor = await browser.visit(service.url)
  const { page } = visitor
  await signIn(visitor, accounts.operator)
  await page.getByRole('heading', { name: '总览' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('域名')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: '域名池' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('cjdlj')
  await page.getByRole('option', { name: /创建短链接/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('combobox').waitFor({ state: 'hidden' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill(accounts.holder.username)
  await page.getByRole('option', { name: /账户/ }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: accounts.holder.username }).waitFor()
  assert.ok(page.url().endsWith(`/operator/accounts/${accounts.holder.id}`))
})

browserTest('the search finds links and templates by their titles', async () => {
  await using visitor = await browser.visit(service.url)
  const { page } = visitor
  await signIn(visitor, accounts.holder)
  await page.locator('main h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: '搜索' }).getByRole('combobox').fill('双十一')
  await page.getByRole('option', { name: /短链接.*双十一主会场/ }).click()
  await page.getByRole('dialog', { name: '短链接 · 双十一主会场' }).waitFor()
  assert.match(page.url(), /\/shortlink\?open=\d+/)
  await page.goto('/console/sms')
  await page.locator('main h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: '搜索' }).getByRole('combobox').fill('CODE_LOGIN')
  await page
    .getByRole('option', { name: /短信模板/ })
    .first()
    .click()
  await page.waitForURL(/\/sms\?q=/)
  assert.deepEqual(visitor.problems, [])
})
