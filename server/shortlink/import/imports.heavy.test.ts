// Imports of CSV files: the dry run, charged slices, waiting for credits, the result file.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { linkImportRoutes } from '../../../contract/console/link-import.ts'
import { linkRoutes } from '../../../contract/console/shortlink.ts'
import { importLimits } from '../../../contract/link-import.ts'
import { pathOf } from '../../../contract/console/route.ts'
import { type Browser, signedIn } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { post, startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import { checkLedger } from '../../credits/ledger/check-store.ts'

onEachEngine('imports', (engine) => {
  let service: TestService
  let account: TestAccount
  let browser: Browser

  before(async () => {
    service = await startService(engine)
    account = await service.account({ short_link: 70 })
    browser = await signedIn(service, account)
  })
  after(async () => {
    const report = await checkLedger(service.installation.db, 0)
    await service[Symbol.asyncDispose]()
    assert.equal(report.ok, true)
  })

  const upload = (
    file: string | Buffer,
    query: Record<string, string> = {},
    by: Browser = browser,
    headers: Record<string, string> = {},
  ) =>
    by.call(linkImportRoutes.upload, {
      query: { name: 'links.csv', codes: 'keep', ...query },
      file: typeof file === 'string' ? file : new Uint8Array(file),
      headers,
    })
  const show = async (id: number, by = browser) =>
    (await by.call(linkImportRoutes.one, { parts: { id } })).body
  const untilState = async (id: number, ...states: string[]) => {
    await until(async () => states.includes((await show(id)).state))
    return show(id)
  }
  const start = (id: number) => browser.call(linkImportRoutes.start, { parts: { id } })
  const remaining = async () =>
    (await service.app.services.credits.balance(account.id, 'short_link')).remaining
  const problems = async (id: number) =>
    (await browser.call(linkImportRoutes.rows, { parts: { id }, sent: { state: 'invalid' } })).body.items.map(
      (row: { line: number; problem: string }) => [row.line, row.problem],
    )

  test('the dry run names the problems of every row and charges nothing', async () => {
    const had = await remaining()
    const file = [
      'keyword,url,title,clicks',
      'imp-one,https://example.com/1,=cmd|x,5',
      'imp-one,https://example.com/2,again,1',
      'imp-two,javascript:alert(1),bad,0',
      'admin,https://example.com/3,ours,0',
      ',,empty,0',
      'nul,https://example.com/4,a\u0000b,0',
      `long,https://example.com/5,${'x'.repeat(9_000)},0`,
      ',https://example.com/6,new code,0',
    ].join('\n')
    const uploaded = await upload(file)
    assert.equal(uploaded.status, 200, JSON.stringify(uploaded.body))
    assert.deepEqual([uploaded.body.format, uploaded.body.total], ['yourls', 8])
    const { id } = uploaded.body
    const checked = await untilState(id, 'checked')
    assert.deepEqual([checked.invalid, checked.created, checked.cost], [6, 0, 2])
    const found = await problems(id)
    assert.deepEqual(
      found.map(([line]: [number]) => line),
      [3, 4, 5, 6, 7, 8],
    )
    for (const [index, pattern] of [/重复/, /http/, /短码不可用/, /缺少目标/, /无法识别/, /8192/].entries())
      assert.match(found[index][1], pattern)
    assert.equal(await remaining(), had)

    assert.equal((await start(id)).status, 200)
    const done = await untilState(id, 'finished')
    assert.deepEqual([done.created, done.failed, done.cost], [2, 0, 0])
    assert.equal(await remaining(), had - 2)
    const visit = await fetch(`${service.url}/imp-one`, { redirect: 'manual' })
    assert.equal(visit.headers.get('location'), 'https://example.com/1')
    const result = await fetch(`${service.url}${pathOf(linkImportRoutes.result, { id })}`, {
      headers: { cookie: browser.cookie ?? '' },
    })
    const lines = (await result.text()).trim().split('\r\n')
    assert.equal(lines.length, 9)
    assert.match(lines[1]!, /^2,created,imp-one,\d+,https:\/\/example\.com\/1,'=cmd\|x,$/)
    assert.equal((await start(id)).status, 400)
  })

  test('codes that no link can have are problems of their rows, and the others are created', async () => {
    const codes = [
      'a b',
      'x',
      'ab',
      '-abc',
      'abc_',
      '中文短码',
      'a/b',
      'a.b',
      'c'.repeat(33),
      "'; --",
      'fine-code',
    ]
    const file = ['keyword,url', ...codes.map((code, index) => `"${code}",https://example.com/${index}`)]
    const { id } = (await upload(file.join('\n'))).body
    const checked = await untilState(id, 'checked')
    assert.deepEqual([checked.total, checked.invalid], [11, 10])
    for (const [, problem] of await problems(id)) assert.match(problem, /^short_code 必须是 3 至 32 个/)
    assert.equal((await start(id)).status, 200)
    assert.equal((await untilState(id, 'finished')).created, 1)
  })

  test('a row that cannot be processed gets a problem, and the others are created', async () => {
    const had = await remaining()
    const rows = Array.from({ length: 12 }, (_one, index) => `https://example.com/f${index}`)
    const { id } = (await upload(`url\n${rows.join('\n')}`)).body
    await untilState(id, 'checked')
    const { db } = service.installation
    // Nothing that a file can contain: a fault of the program or of the storage.
    await db.write((tx) =>
      tx.run('UPDATE link_import_row SET input = ? WHERE import_id = ? AND row_index IN (0, 7)', ['{', id]),
    )
    assert.equal((await start(id)).status, 200)
    const done = await untilState(id, 'finished')
    assert.deepEqual([done.created, done.failed, await remaining()], [10, 2, had - 10])
    for (const [, problem] of await problems(id)) assert.equal(problem, '该行无法处理（系统内部错误）')
  })

  test('without credits it waits, and continues where it stopped; each row once', async () => {
    const had = await remaining()
    const rows = Array.from({ length: 120 }, (_one, index) => `https://example.com/r${index},批量,a|b`)
    const { id } = (await upload(`目标地址,标题,标签\n${rows.join('\n')}`, { tag: 'import' })).body
    await untilState(id, 'checked')
    await start(id)
    const paused = await untilState(id, 'paused')
    assert.deepEqual([paused.pause_reason, paused.created, await remaining()], ['insufficient', had, 0])
    await service.app.services.credits.grant({
      actor: { kind: 'system' },
      accountId: account.id,
      apiType: 'short_link',
      amount: 200,
    })
    await start(id)
    const done = await untilState(id, 'finished')
    assert.equal(done.created, 120)
    assert.equal(await remaining(), had + 200 - 120)
    const { db } = service.installation
    const targets = await db.all<{ target_url: string; tags: string }>(
      `SELECT target_url, tags FROM link WHERE account_id = ? AND title = '批量'`,
      [account.id],
    )
    assert.equal(new Set(targets.map(({ target_url }) => target_url)).size, 120)
    assert.equal(targets.length, 120)
    assert.deepEqual(JSON.parse(targets[0]!.tags), ['a', 'b', 'import'])
  })

  test('a code that is taken after the dry run fails its row only; cancelling stops', async () => {
    const { id } = (
      await upload(
        'code,target_url,redirect_type\nlate-code,https://example.com/l,direct\n,https://example.com/m,page',
      )
    ).body
    await untilState(id, 'checked')
    const taken = await post(`${service.url}/api/shortlink_api.php`, {
      username: account.username,
      api_key: account.key,
      action: 'generate',
      title: 't',
      target_url: 'https://example.com/',
      short_code: 'late-code',
    })
    assert.equal(taken.status, 200)
    const had = await remaining()
    await start(id)
    const done = await untilState(id, 'finished')
    assert.deepEqual([done.created, done.failed, await remaining()], [1, 1, had - 1])

    const { id: other } = (await upload('url\nhttps://example.com/never')).body
    await untilState(other, 'checked')
    assert.equal((await browser.call(linkImportRoutes.cancel, { parts: { id: other } })).status, 200)
    assert.equal((await start(other)).status, 400)
    assert.equal((await show(other)).state, 'cancelled')
  })

  test('an export is read back with all its fields, in both languages', async () => {
    const sender = await service.account({ short_link: 5 })
    const from = await signedIn(service, sender)
    const made = await from.call(linkRoutes.create, {
      sent: {
        target_url: 'https://example.com/round?a=1,2',
        title: '=往返,"引号"',
        redirect_type: 'page',
        redirect_url_a: 'https://example.com/a',
        tags: ['a,b', 'c|d', 'e\\f', '春、夏'],
        expires_at: '2036-01-02 03:04:05',
        expired_url: 'https://example.com/over',
        max_clicks: 7,
        external_id: 'order-7',
        rules: [{ when: { os: ['ios', 'android'], language: 'en' }, target_url: 'https://example.com/r' }],
      },
    })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    for (const language of ['zh', 'en']) {
      const receiver = await signedIn(service, await service.account({ short_link: 5 }))
      const headers = { 'accept-language': language }
      const { text } = await from.text(linkRoutes.csv, { headers })
      const uploaded = await upload(text, { codes: 'new' }, receiver)
      assert.equal(uploaded.body.format, 'tollgate', language)
      const { id } = uploaded.body
      await until(async () => (await show(id, receiver)).state === 'checked')
      assert.equal((await show(id, receiver)).invalid, 0)
      await receiver.call(linkImportRoutes.start, { parts: { id } })
      await until(async () => (await show(id, receiver)).state === 'finished')
      const [link] = (await receiver.call(linkRoutes.list)).body.items
      for (const name of [
        'target_url',
        'title',
        'redirect_type',
        'redirect_url_a',
        'tags',
        'expires_at',
        'expired_url',
        'max_clicks',
        'external_id',
        'rules',
        'domain',
        'state',
      ])
        assert.deepEqual(link[name], made.body.link[name], `${language} ${name}`)
    }
    const wrong = await upload(
      'target_url,redirect_type,rules,domain\nhttps://example.com/w,direct,oops,no.example.com',
    )
    const checked = await untilState(wrong.body.id, 'checked')
    assert.equal(checked.invalid, 1)
    assert.match((await problems(wrong.body.id))[0][1], /rules\[0\]/)
  })

  test('other accounts see nothing, and files that cannot be read are refused', async () => {
    const { id } = (await upload('url\nhttps://example.com/mine')).body
    const stranger = await signedIn(service, await service.account({ short_link: 5 }))
    for (const route of [
      linkImportRoutes.one,
      linkImportRoutes.rows,
      linkImportRoutes.start,
      linkImportRoutes.cancel,
    ])
      assert.equal((await stranger.call(route, { parts: { id } })).status, 404)
    for (const file of ['', 'title,clicks\na,1', 'url\n', Buffer.from([0xff, 0xfe, 0, 1])])
      assert.equal((await upload(file)).status, 400)
    assert.equal((await upload('url\nx', { codes: 'other' })).status, 400)
    assert.equal((await upload('url\nx', {}, browser, { 'content-type': 'text/html' })).status, 415)
    const gbk = Buffer.concat([
      Buffer.from('b1eacce22cc4bfb1eab5d8d6b70a', 'hex'),
      Buffer.from('b1eacce2,https://example.com/gbk\n', 'latin1').subarray(0, 0),
      Buffer.from('b1eacce2', 'hex'),
      Buffer.from(',https://example.com/gbk\n'),
    ])
    const read = await upload(gbk)
    assert.deepEqual([read.status, read.body.encoding, read.body.total], [200, 'GBK', 1])
    await untilState(read.body.id, 'checked')
  })

  test('a new import removes the oldest that has ended, else one that was not started, and never a paused one', async () => {
    const owner = await service.account({ short_link: 5 })
    const by = await signedIn(service, owner)
    const { db } = service.installation
    const uploadOne = async () => {
      const { status, body } = await upload('url\nhttps://example.com/limit', {}, by)
      if (status === 200) await until(async () => (await show(body.id, by)).state === 'checked')
      return { status, id: body.id as number, body }
    }
    const put = (state: string, ids: readonly number[]) =>
      db.write((tx) => tx.run(`UPDATE link_import SET state = ? WHERE id IN (${ids.join(', ')})`, [state]))
    const kept = async () => {
      const { items } = (await by.call(linkImportRoutes.list)).body
      return (items as { id: number }[]).map(({ id }) => id).toSorted((x, y) => x - y)
    }
    const ids: number[] = []
    while (ids.length < importLimits.perAccount) ids.push((await uploadOne()).id)
    const [paused, checked, finished, ...others] = ids as [number, number, number, ...number[]]
    await put('paused', [paused, ...others])
    await put('finished', [finished])

    const first = await uploadOne()
    assert.deepEqual(await kept(), [paused, checked, ...others, first.id])
    const second = await uploadOne()
    assert.deepEqual(await kept(), [paused, ...others, first.id, second.id])
    await put('paused', [first.id, second.id])
    const refused = await uploadOne()
    assert.deepEqual([refused.status, await kept()], [400, [paused, ...others, first.id, second.id]])
    assert.match(JSON.stringify(refused.body), /最多保留 10 个导入，请等待或取消/)
    await by.call(linkImportRoutes.cancel, { parts: { id: paused } })
    const third = await uploadOne()
    assert.deepEqual(await kept(), [...others, first.id, second.id, third.id])
  })
})
