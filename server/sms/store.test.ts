// The queries of send records, on both engines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bizIdOf } from '../../contract/sms-text.ts'
import type { Database } from '../db/database.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import {
  findPage,
  findSends,
  insertSends,
  markAccepted,
  markFailed,
  outcomeOf,
  type SendFilter,
  type NewSend,
  type SendPosition,
  type SendOutcome,
  type SendRecord,
} from './store.ts'

async function insert(db: Database, send: Partial<NewSend> = {}): Promise<SendPosition> {
  const [opened] = await db.write((tx) =>
    insertSends(tx, [
      {
        accountId: 1,
        operationId: 1,
        phone: '13800138000',
        templateCode: 'CODE',
        templateParams: '{}',
        signName: '签名',
        parts: 1,
        gateway: 'sandbox',
        createdAt: Date.now(),
        ...send,
      },
    ]),
  )
  return opened!
}

onEachEngine('SMS records', (engine) => {
  test('assigns growing ids across connections', async () => {
    await using fresh = await freshDatabase(engine)
    const other = fresh.storage.open()
    let last = 0
    for (let i = 0; i < 20; i++) {
      const { id } = await insert(i % 2 === 0 ? fresh.db : other)
      assert.ok(id > last)
      last = id
    }
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, index) => insert(index % 2 === 0 ? fresh.db : other)),
    )
    assert.equal(new Set(many.map(({ id }) => id)).size, 40)
    assert.ok(many.every(({ id }) => id > last))
    await other.close()
  })

  test('pages have no gaps and no duplicates for every filter', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    for (let i = 0; i < 25; i++) {
      const { id } = await insert(db, {
        accountId: 1 + (i % 2),
        phone: i % 3 === 0 ? '13900139000' : '13800138000',
        templateCode: i % 5 === 0 ? 'OTHER' : 'CODE',
      })
      await db.write(async (tx) => {
        if (i % 4 === 0) {
          await markFailed(tx, [{ id, state: 'refused', charged: false, problem: 'number', code: 'X' }])
        } else await markAccepted(tx, [{ id, gatewayId: undefined }])
        // Several share a moment, so that the number has to decide.
        await tx.run('UPDATE sms_send SET created_at = ? WHERE id = ?', [1_000 * Math.floor(i / 4), id])
      })
    }
    const all = await findPage(db, { accountId: undefined }, 100)
    assert.equal(all.length, 25)
    const filters: Omit<SendFilter, 'accountId' | 'after'>[] & { accountId?: number }[] = [
      {},
      { accountId: 1 },
      { accountId: 2, phone: '13900139000' },
      { outcome: 'failed' },
      { templateCode: 'OTHER', outcome: 'sent' },
      { outcome: 'undecided' },
      { from: 2_000, before: 5_000 },
      { bizId: bizIdOf(all[3]!.id) },
      { bizId: 'none' },
    ]
    for (const filter of filters) {
      const paged: SendRecord[] = []
      for (;;) {
        const after = paged.at(-1)
        const page = await findPage(db, { accountId: undefined, ...filter, after }, 4)
        paged.push(...page)
        if (page.length < 4) break
      }
      const whole = await findPage(db, { accountId: undefined, ...filter }, 100)
      assert.deepEqual(paged, whole, JSON.stringify(filter))
      const one: { accountId?: number; outcome?: SendOutcome | undefined } = filter
      assert.ok(one.accountId === undefined || whole.every((row) => row.account_id === one.accountId))
      assert.ok(one.outcome === undefined || whole.every((row) => outcomeOf(row) === one.outcome))
    }
    assert.deepEqual(
      (await findSends(db, { accountId: 1 }, 100)).map(({ id }) => id),
      (await findPage(db, { accountId: 1 }, 100)).map(({ id }) => id),
    )
  })

  test('queries use an index and do not sort', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const queries = [
      "account_id = 1 AND phone = '1'",
      'account_id = 1 AND created_at >= 1 AND created_at < 2',
      "account_id = 1 AND phone = '1' AND created_at >= 1 AND created_at < 2",
      'account_id = 1 AND id = 1',
    ]
    for (const where of queries) {
      const sql = `SELECT * FROM sms_send WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT 20`
      const plan =
        engine === 'sqlite'
          ? (await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`))
              .map(({ detail }) => detail)
              .join('\n')
          : (
              await db.write(async (tx) => {
                await tx.run('SET LOCAL enable_seqscan = off')
                await tx.run('SET LOCAL enable_bitmapscan = off')
                await tx.run('SET LOCAL enable_sort = off')
                return tx.all<Record<string, string>>(`EXPLAIN ${sql}`)
              })
            )
              .map((row) => Object.values(row)[0])
              .join('\n')
      assert.match(plan, engine === 'sqlite' ? /USING (INDEX|INTEGER PRIMARY KEY)/ : /Index Scan/, plan)
      if (!where.includes(' id =')) assert.doesNotMatch(plan, /TEMP B-TREE|Sort/, plan)
    }
  })

  test('replies of one number are found by an index', async () => {
    await using fresh = await freshDatabase(engine)
    const sql = `SELECT * FROM sms_reply WHERE account_id = 1 AND phone = '1' AND received_at >= 1
      ORDER BY received_at DESC, id DESC LIMIT 20`
    if (engine === 'sqlite') {
      const plan = await fresh.db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      assert.deepEqual(
        plan.map(({ detail }) => detail),
        ['SEARCH sms_reply USING INDEX sms_reply_number (account_id=? AND phone=? AND received_at>?)'],
      )
      return
    }
    // The planner decides by the number of rows.
    const found = await fresh.db.all<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE indexname = 'sms_reply_number'`,
    )
    assert.match(found[0]?.indexdef ?? '', /\(account_id, phone, received_at, id\)/)
  })
})
