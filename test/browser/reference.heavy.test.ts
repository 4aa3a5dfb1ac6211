// The reference pages under /docs/ on a phone.
import assert from 'node:assert/strict'
import { browserTest, openBrowser, signIn } from '../support/browser.ts'
import { startService } from '../support/service.ts'

const languages = [
  ['zh', '/docs/'],
  ['en', '/docs/en/'],
] as const

browserTest('fits a phone screen without accessibility violations', async () => {
  await using service = await startService('sqlite')
  await using browser = await openBrowser()
  // Each page with one theme.
  for (const [language, path] of languages) {
    const theme = language === 'zh' ? 'light' : 'dark'
    await using visitor = await browser.visit(service.url, { language, theme, width: 360, height: 740 })
    const { page } = visitor
    await page.goto(path)
    const widths = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]')
    assert.ok(widths[0] <= widths[1], `${path}: ${widths.join(' > ')}`)
    // Tables and code do not scroll horizontally either.
    const overflowing = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.wide, pre')].filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => one.textContent.trim().slice(0, 60))`,
    )
    assert.deepEqual(overflowing, [], path)
    await page.locator('#sms-send-java').check({ force: true })
    assert.equal(await page.locator('#sms-send-java ~ pre:visible').count(), 1)
    assert.deepEqual(await visitor.findViolations(), [])
    assert.deepEqual(visitor.problems, [])
  }
})

browserTest(
  'is searched with the keyboard, copies samples, and calls the API with the key of the reader',
  async () => {
    await using service = await startService('sqlite')
    await using browser = await openBrowser()
    const account = await service.account({ sms: 7 })
    await using visitor = await browser.visit(service.url, { width: 1440, height: 900 })
    const { page } = visitor
    await page.goto('/docs/')
    await page.keyboard.press('/')
    await page.keyboard.type('get_credits')
    const shown = page.locator('#contents li:not([hidden]) > a:visible')
    await page.locator('#contents').getByRole('link', { name: '查询额度' }).waitFor()
    assert.ok((await shown.count()) < 8, 'other sections are hidden')
    const operation = page.locator('.op:has(#sms-credits)')
    await operation.getByRole('button', { name: '复制' }).first().click()
    await operation.getByRole('button', { name: '已复制' }).waitFor()
    await operation.getByText('在线调用').click()
    await operation.getByLabel('用户名').fill(account.username)
    await operation.getByLabel('API 密钥').fill(account.key)
    await operation.getByRole('button', { name: '发送请求' }).click()
    await operation.getByText('"remaining": 7').waitFor()
    // A page without contents has the whole width.
    await page.goto('/docs/errors/1004')
    assert.ok(Number(await page.evaluate(`document.querySelector('article').clientWidth`)) > 600)
    assert.deepEqual(visitor.problems, [])
  },
)

browserTest(
  'fills in the user name of a reader who is signed in, and a pasted key, in this tab only',
  async () => {
    await using service = await startService('sqlite')
    await using browser = await openBrowser()
    const account = await service.account({ sms: 3 })
    await using visitor = await browser.visit(service.url, { width: 1440, height: 900, language: 'en' })
    const { page } = visitor
    await page.goto('/docs/en/')
    assert.equal(await page.locator('.reader').count(), 0)
    assert.doesNotMatch(await page.locator('pre').first().innerText(), new RegExp(account.username))
    await signIn(visitor, account)
    await page.locator('main h1').waitFor()
    await page.goto('/docs/en/')
    await page.getByText(`Signed in as ${account.username}.`).waitFor()
    const sample = page.locator('.op:has(#sms-credits) pre').first()
    assert.match(await sample.innerText(), new RegExp(account.username))
    assert.match(await sample.innerText(), /<API_KEY>/)
    await page.getByLabel('Paste your API key').fill(account.key)
    assert.match(await sample.innerText(), new RegExp(account.key))
    const operation = page.locator('.op:has(#sms-credits)')
    await operation.getByText('Try it').click()
    await operation.getByRole('button', { name: 'Send request' }).click()
    await operation.getByText('"remaining": 3').waitFor()
    await page.reload()
    await page.getByText('The samples have your key').waitFor()
    assert.match(await sample.innerText(), new RegExp(account.key))
    const html = await (await page.request.get('/docs/en/')).text()
    assert.ok(!html.includes(account.username) && !html.includes(account.key), 'the cached page has neither')
    assert.deepEqual(visitor.problems, [])
  },
)
