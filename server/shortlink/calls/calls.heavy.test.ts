// The operations on many links through the API: batches, lists and statistics.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatDay } from '../../../contract/time.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import {
  bot,
  iphone,
  type LinkCalls,
  newLink,
  openLinkCalls,
  visit,
} from '../../../test/support/link-calls.ts'
import { post } from '../../../test/support/service.ts'

onEachEngine('batches, lists and statistics of links', (engine) => {
  let links: LinkCalls

  before(async () => {
    links = await openLinkCalls(engine)
  })
  after(() => links[Symbol.asyncDispose]())

  test('generate_batch is charged and created as a whole, once for a key', async () => {
    const poor = await links.service.account({ short_link: 3 })
    const batch = ['1', '2', '3'].map((n) => ({
      target_url: `https://example.com/${n}`,
      title: n,
      short_code: `batch-${n}-${engine}`,
      external_id: n,
      tags: ['batch'],
    }))
    const body = { action: 'generate_batch', links: batch }
    const broken = [...batch, { target_url: 'x', title: 'y', short_code: batch[0]!.short_code }]
    await links.refused(
      { ...body, links: broken },
      'links[3].target_url 必须是 http:// 或 https:// 开头的完整网址；links[3].short_code 短码已被占用',
      poor,
    )
    await links.refused(
      { ...body, links: [...batch, { ...batch[0], title: 'again' }] },
      'links[3].short_code 短码已被占用；links[3].external_id 已被使用',
      poor,
    )
    await links.refused(
      { ...body, links: [...batch, { ...batch[0], title: 'again', short_code: '-' }] },
      'links[3].short_code 必须是 3 至 32 个字母、数字、_ 或 -，首尾为字母或数字；links[3].external_id 已被使用',
      poor,
    )
    await links.refused(
      { ...body, links: [...batch, { target_url: 'https://example.com/', title: '4' }] },
      '生成次数不足',
      poor,
    )
    const key = { 'idempotency-key': `batch-${engine}` }
    const send = () =>
      post(
        `${links.service.url}/api/shortlink_api.php`,
        { username: poor.username, api_key: poor.key, ...body },
        key,
      )
    const [first, again] = [await send(), await send()]
    assert.deepEqual(
      first.body.data.links.map(({ index, short_code: code }: { index: number; short_code: string }) => [
        index,
        code,
      ]),
      batch.map((one, index) => [index, one.short_code]),
    )
    assert.equal(first.body.data.remaining_balance, 0)
    assert.deepEqual(again.body, first.body)
    assert.equal((await links.ok({ action: 'list', tag: 'batch' }, poor)).links.length, 3)
  })

  test('88 list pages with a cursor of its filters and its account only', async () => {
    const owner = await links.service.account({ short_link: 50 })
    for (let i = 0; i < 7; i += 1)
      await links.ok(
        {
          ...newLink,
          title: `Page ${i}`,
          tags: [i % 2 === 0 ? 'even' : 'odd'],
          short_code: `pg-${i}-${engine}`,
        },
        owner,
      )
    const page = (more: object) => links.ok({ action: 'list', limit: 2, tag: 'even', ...more }, owner)
    const titles = (listed: { links: { title: string }[] }) => listed.links.map(({ title }) => title)
    const first = await page({})
    assert.deepEqual(titles(first), ['Page 6', 'Page 4'])
    const rest = await page({ cursor: first.next_cursor, limit: 100 })
    assert.deepEqual([titles(rest), rest.next_cursor], [['Page 2', 'Page 0'], null])
    for (const [more, caller] of [
      [{ tag: 'odd' }, owner],
      [{ q: 'Page' }, owner],
      [{}, links.other],
    ] as const)
      await links.refused(
        { action: 'list', limit: 2, tag: 'even', cursor: first.next_cursor, ...more },
        'cursor 无效',
        caller,
      )
    await links.refused({ action: 'list', cursor: 'abc' }, 'cursor 无效')
    await links.refused({ action: 'list', limit: 101 }, 'limit 必须是 1 至 100 的整数')
    assert.deepEqual(titles(await links.ok({ action: 'list', q: 'pAGE 3' }, owner)), ['Page 3'])
    assert.deepEqual(titles(await links.ok({ action: 'list', q: `PG-5-` }, owner)), ['Page 5'])
    assert.deepEqual(titles(await links.ok({ action: 'list', q: '%' }, owner)), [])
    await links.ok({ action: 'pause', short_code: `pg-3-${engine}` }, owner)
    assert.deepEqual(titles(await links.ok({ action: 'list', state: 'paused' }, owner)), ['Page 3'])
    assert.equal((await links.ok({ action: 'list', state: 'active' }, owner)).links.length, 6)
  })

  test('stats counts people by every part, with empty days and hours', async () => {
    const { link_id: id, a_url: a } = await links.ok({ ...newLink, tags: [`stats ${engine}`] })
    await visit(a, {
      headers: { 'x-forwarded-for': '113.118.112.93', referer: 'https://news.example.com/x' },
    })
    await visit(a, { headers: { 'x-forwarded-for': '8.8.8.8', 'user-agent': iphone } })
    await visit(a)
    await visit(a, { headers: { 'user-agent': bot } })
    const stats = (more: object) => links.ok({ action: 'stats', link_id: id, ...more })
    const items = async (by: string) => (await stats({ by })).items
    const days = await stats({})
    assert.deepEqual([days.clicks, days.bot_clicks, days.preview_clicks, days.visitors], [3, 1, 0, 3])
    assert.equal(days.items.length, 30)
    assert.deepEqual(days.items.at(-1), { value: formatDay(Date.now()), clicks: 3 })
    assert.equal(
      days.items.reduce((sum: number, one: { clicks: number }) => sum + one.clicks, 0),
      3,
    )
    const today = formatDay(Date.now())
    const hours = await stats({ by: 'hour', start_date: today, end_date: today })
    assert.equal(hours.items.length, 24)
    assert.equal(hours.items[0].value, `${today} 00:00`)
    assert.deepEqual(await items('country'), [
      { value: '', clicks: 1 },
      { value: 'CN', clicks: 1 },
      { value: 'US', clicks: 1 },
    ])
    assert.deepEqual(await items('province'), [
      { value: '', clicks: 2 },
      { value: 'GD', clicks: 1 },
    ])
    assert.deepEqual(await items('device'), [
      { value: 'desktop', clicks: 2 },
      { value: 'mobile', clicks: 1 },
    ])
    assert.deepEqual((await items('os'))[0], { value: 'windows', clicks: 2 })
    assert.deepEqual((await items('app'))[1], { value: 'wechat', clicks: 1 })
    assert.deepEqual((await items('browser'))[0], { value: 'chrome', clicks: 2 })
    assert.deepEqual((await items('referrer'))[1], { value: 'news.example.com', clicks: 1 })
    assert.equal((await links.ok({ action: 'stats', tag: `stats ${engine}` })).clicks, 3)
    assert.equal((await links.ok({ action: 'stats', tag: `stats ${engine}` }, links.other)).clicks, 0)
    await links.refused({ action: 'stats', link_id: id, tag: 'x' }, 'tag 与短链接只能传入其一')
    await links.refused({ action: 'stats' }, '访问统计缺少必要参数：link_id、tag')
    await links.refused(
      { action: 'stats', link_id: id, start_date: '2026-02-02', end_date: '2026-02-01' },
      'start_date 不能晚于 end_date',
    )
    assert.equal((await links.call({ action: 'stats', link_id: id }, links.other)).status, 400)
    // Addresses are stored nowhere.
    const stored = await links.service.installation.db.all<{ clicks: string }>(
      'SELECT clicks FROM link_click_journal',
    )
    assert.ok(!JSON.stringify(stored).includes('113.118.112.93'))
  })
})
