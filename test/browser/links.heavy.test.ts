// One short link from the form to the shared statistics: a rule and a password, a visit, the click, a share and its end.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { browserTest, noBrowser, openBrowser, signIn, type TestBrowser } from '../support/browser.ts'
import { post, startService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let service: TestService
let browser: TestBrowser

/** Closes what `before` started, even when `before` fails. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
})
after(() => started.disposeAsync())

browserTest('builds a link with a rule and a password, counts a visit, shares and revokes', async () => {
  const account = await service.account({ short_link: 5 })
  await using visitor = await browser.visit(service.url)
  const { page } = visitor
  await signIn(visitor, account)
  await page.goto('/console/shortlink/new')
  await page.getByLabel('目标地址', { exact: true }).fill('https://shop.example.com/sale')
  await page.getByLabel('标题').fill('秋季促销')
  const sample = page.getByTestId('link-preview').getByLabel(`二维码 ${service.url}/_sample?qr=1`)
  await sample.waitFor()
  await page.getByTestId('link-preview').getByText('示意', { exact: true }).waitFor()
  await page.getByLabel('自选短码').fill('autumn-sale')
  await page.getByText('可以使用').waitFor()
  await page.getByLabel('访问密码').fill('open sesame')
  await page.getByRole('button', { name: '添加规则' }).click()
  const rule = page.getByRole('listitem', { name: '规则 1' })
  await rule.getByRole('combobox', { name: '系统 值' }).click()
  await page.getByTitle('Windows').click()
  await page.keyboard.press('Escape')
  await rule.getByLabel('跳转到').fill('https://shop.example.com/windows')
  const preview = page.getByTestId('link-preview')
  await preview.getByText('系统为 Windows → https://shop.example.com/windows').waitFor()
  await preview.getByText('需要输入密码').waitFor()
  await page.getByLabel('a_url 的跳转地址').fill('https://shop.example.com/a')
  await preview.getByText('其他访问（通过 a_url） → https://shop.example.com/a').waitFor()
  await preview.getByText('其他访问（通过 b_url） → https://shop.example.com/sale').waitFor()
  await preview.getByLabel(`二维码 ${service.url}/autumn-sale?qr=1`).waitFor()
  assert.equal(await preview.getByText('示意', { exact: true }).count(), 0)
  await preview.getByRole('button', { name: '更多样式' }).click()
  const designer = page.getByRole('dialog', { name: '设计二维码' })
  await designer.getByTestId('qr-preview').waitFor()
  await designer.getByLabel('尺寸（像素）').fill('300')
  await designer.locator('input[type=file]').setInputFiles({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: Buffer.from(onePixel, 'base64'),
  })
  await designer.getByRole('button', { name: '移除' }).waitFor()
  await designer.getByRole('button', { name: '完成' }).click()
  const designed = preview.getByAltText('所设样式的二维码预览')
  await until(async () => {
    const picture = decodeURIComponent((await designed.getAttribute('src')) ?? '')
    const svg = Buffer.from(picture.slice(picture.indexOf(',') + 1), 'base64').toString()
    return svg.includes('width="300"') && svg.includes('<image')
  })
  await page.getByText('消耗 1 次短链接额度').waitFor()
  await page.getByRole('button', { name: '创建短链接' }).click()
  const drawer = page.locator('.ant-drawer')
  await drawer.getByText('需要密码').waitFor()
  await drawer.getByRole('button', { name: '更多样式' }).click()
  assert.equal(await designer.getByLabel('尺寸（像素）').inputValue(), '300')
  await designer.getByRole('button', { name: 'PNG' }).waitFor()
  await page.keyboard.press('Escape')
  await designer.waitFor({ state: 'hidden' })
  assert.equal((await service.app.services.credits.balance(account.id, 'short_link')).remaining, 4)

  const opened = await fetch(`${service.url}/autumn-sale`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/120.0 Safari/537.36',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'password=open+sesame',
  })
  assert.deepEqual([opened.status, opened.headers.get('location')], [303, 'https://shop.example.com/windows'])

  await drawer.getByRole('link', { name: '完整统计与分享' }).click()
  await page.getByRole('heading', { name: '访问统计' }).waitFor()
  await page.getByText('链接“秋季促销”').waitFor()
  await page.getByText('Windows').first().waitFor()
  await page.getByRole('button', { name: '创建分享链接' }).click()
  const shared = page.getByText(/\/share\/[\w-]{43}$/)
  await shared.waitFor()
  const url = (await shared.textContent()) ?? ''
  await page.getByRole('button', { name: '我已保存' }).click()

  await using stranger = await browser.visit(service.url)
  await stranger.page.goto(url)
  await stranger.page.getByRole('heading', { name: '秋季促销' }).waitFor()
  await stranger.page.getByText('Windows').waitFor()
  assert.deepEqual(await stranger.findViolations(), [])
  const text = (await stranger.page.textContent('body')) ?? ''
  assert.ok(!text.includes('shop.example.com') && !text.includes(account.username))

  await page.getByRole('button', { name: '撤销' }).click()
  await page.getByRole('dialog', { name: '撤销分享链接？' }).getByRole('button', { name: '撤销' }).click()
  await page.getByText('还没有有效的分享链接').waitFor()
  await until(async () => (await fetch(url)).status === 410)
  assert.deepEqual(visitor.problems, [])
})

browserTest('an edit of a title leaves alone the target that a call has changed meanwhile', async () => {
  const account = await service.account({ short_link: 5 })
  const call = (parameters: Readonly<Record<string, string>>) =>
    post(`${service.url}/api/shortlink_api.php`, {
      username: account.username,
      api_key: account.key,
      ...parameters,
    })
  const { db } = service.installation
  await call({ action: 'generate', target_url: 'https://example.com/old', title: 'before' })
  const link = await db.one<{ id: number }>('SELECT id FROM link WHERE title = ?', ['before'])
  await using visitor = await browser.visit(service.url)
  const { page } = visitor
  await signIn(visitor, account)
  await page.goto('/console/shortlink')
  await page.getByRole('link', { name: 'before', exact: true }).click()
  const drawer = page.getByRole('dialog')
  await drawer.getByLabel('标题').fill('after')
  const changed = await call({
    action: 'update',
    link_id: String(link!.id),
    target_url: 'https://example.com/new',
  })
  assert.equal(changed.status, 200)
  await drawer.getByRole('button', { name: '保存' }).click()
  await drawer.getByRole('button', { name: '保存' }).waitFor({ state: 'hidden' })
  const row = await db.one<{ title: string; target_url: string }>(
    'SELECT title, target_url FROM link WHERE id = ?',
    [link!.id],
  )
  assert.deepEqual({ ...row }, { title: 'after', target_url: 'https://example.com/new' })
})

browserTest(
  'the search above a list keeps the focus, so that its text can be changed with the keyboard',
  async () => {
    const account = await service.account({ short_link: 5 })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/shortlink')
    const field = page.getByRole('searchbox', { name: '标题、目标地址或短码' })
    await field.fill('autumn')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=autumn/)
    await page.keyboard.type(' sale')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=autumn\+sale/)
    // The way back shows the earlier search.
    await page.goBack()
    await page.waitForURL(/q=autumn$/)
    assert.equal(await field.inputValue(), 'autumn')
  },
)

browserTest('long titles and targets without spaces wrap, on the desk and on the phone', async () => {
  const account = await service.account({ short_link: 5 })
  const long = 'autumn_sale_of_all_shoes_and_bags'.repeat(6).slice(0, 100)
  await post(`${service.url}/api/shortlink_api.php`, {
    action: 'generate',
    username: account.username,
    api_key: account.key,
    target_url: `https://example.com/${'a'.repeat(900)}`,
    title: long,
  })
  const link = await service.installation.db.one<{ id: number }>('SELECT id FROM link WHERE title = ?', [
    long,
  ])
  const paths = ['', `?open=${link!.id}`, `/edit?link=${link!.id}`, `/analytics?link=${link!.id}`]
  for (const width of [1280, 390]) {
    await using visitor = await browser.visit(service.url, { language: 'en', width })
    const { page } = visitor
    await signIn(visitor, account)
    for (const path of paths) {
      await page.goto(`/console/shortlink${path}`)
      await page.getByText(long).first().waitFor()
      const overflow = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
      assert.equal(await page.evaluate(overflow), 0, `${path} scrolls horizontally at ${width}`)
      const title = page.locator('.ant-drawer-title')
      if (path.startsWith('?'))
        assert.ok(await title.evaluate((one) => one.scrollWidth <= one.clientWidth), `title at ${width}`)
    }
  }
})
