// Monthly statements: sums, chain, signature, and what compaction leaves of old entries.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { admin, startService } from '../../test/support/service.ts'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { dayMs, formatDay, hourMs, minuteMs } from '../../contract/time.ts'
import { systemActor } from '../audit/audit.ts'
import type { Job, Queries, Value } from '../db/database.ts'
import { createAccountWithoutKey } from '../credits/create-account.ts'
import { createCredits } from '../credits/credits.ts'
import { compactStep } from '../credits/ledger/compaction-store.ts'
import { findFileProblem, formatFile, readRows } from './file.ts'
import { createStatements, monthOf } from './statements.ts'

onEachEngine('statements', (engine) => {
  it('sum each month, chain the digests, stay as they are after compaction, and show every change', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const account = await service.account()
    const now = Date.now()
    const created = now - 500 * dayMs
    await db.write(async (tx) => {
      await tx.run('UPDATE account SET created_at = ? WHERE id = ?', [created, account.id])
      const add = async (
        kind: string,
        amount: number,
        balance: number,
        daysAgo: number,
        operation: number | null,
      ) =>
        tx.run(
          `INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, note, at)
           VALUES (?, 'sms', ?, ?, ?, ?, NULL, ?)`,
          [account.id, kind, amount, balance, operation, now - daysAgo * dayMs],
        )
      const operation = (cost: number, back: number) =>
        tx.insert(
          `INSERT INTO operation (account_id, api_type, action, cost, given_back, state, request_id, created_at, ended_at)
           VALUES (?, 'sms', 'send_sms', ?, ?, 'settled', '', 0, 0)`,
          [account.id, cost, back],
        )
      const first = await operation(30, 10)
      const second = await operation(5, 0)
      const third = await operation(7, 0)
      await add('grant', 100, 100, 499, null)
      await add('charge', -30, 70, 470, first)
      await add('refund', 10, 80, 470, first)
      await add('charge', -5, 75, 430, second)
      await add('adjust', -1, 74, 429, null)
      await add('charge', -7, 67, 0, third)
      await tx.run(`UPDATE credit SET total = 99, used = 32 WHERE account_id = ? AND api_type = 'sms'`, [
        account.id,
      ])
    })
    const statements = createStatements(service.installation)
    const holder = { id: account.id, username: account.username, created_at: created }
    await statements.freezeAll(new AbortController().signal)
    const stored = await db.all<{ month: string; content: string; digest: string }>(
      'SELECT month, content, digest FROM statement WHERE account_id = ? ORDER BY month',
      [account.id],
    )
    assert.ok(stored.length >= 16)
    let previous = { digest: '', closing: 0 }
    const totals = { bought: 0, used: 0, refunded: 0, adjusted: 0 }
    for (const { content, digest } of stored) {
      const sms = readRows(content).find((row) => row.api_type === 'sms')!
      assert.ok(content.includes(`previous,${previous.digest}\r\n`))
      assert.equal(sms.opening, previous.closing)
      assert.equal(sms.closing, sms.opening + sms.bought - sms.used + sms.refunded + sms.adjusted)
      previous = { digest, closing: sms.closing }
      for (const name of ['bought', 'used', 'refunded', 'adjusted'] as const) totals[name] += sms[name]
    }
    assert.deepEqual(totals, { bought: 100, used: 35, refunded: 10, adjusted: -1 })

    await db.write((tx) => compactStep(tx, { account_id: account.id, api_type: 'sms' }, 400))
    await statements.freezeAll(new AbortController().signal)
    const again = await db.all(
      'SELECT month, content, digest FROM statement WHERE account_id = ? ORDER BY month',
      [account.id],
    )
    assert.deepEqual(again, stored)
    const running = await statements.make(holder, formatDay(now).slice(0, 7))
    assert.equal(running.isFinal, false)
    assert.deepEqual(
      running.rows.find((row) => row.api_type === 'sms'),
      { api_type: 'sms', opening: 74, bought: 0, used: 7, refunded: 0, adjusted: 0, closing: 67 },
    )

    const file = Buffer.from(formatFile(running, statements.key.id))
    assert.equal(findFileProblem(file, statements.key), undefined)
    for (let index = 0; index < file.length; index += 1) {
      const changed = Buffer.from(file)
      changed[index] = changed[index]! ^ 1
      assert.ok(findFileProblem(changed, statements.key), `byte ${index}`)
    }
    for (const changed of [
      file.subarray(0, -1),
      Buffer.concat([file, Buffer.from('\n')]),
      file.subarray(3),
      Buffer.alloc(0),
    ]) {
      assert.ok(findFileProblem(changed, statements.key))
    }

    const { environment } = service.storage
    const out = join(environment['DATA_DIR']!, 'statement.csv')
    const month = stored[3]!.month
    assert.equal(
      (await admin(environment, 'statement', 'make', account.username, month, '--out', out)).code,
      0,
    )
    assert.equal((await admin(environment, 'statement', 'verify', out)).code, 0)
    const pem = join(environment['DATA_DIR']!, 'key.pem')
    await writeFile(pem, await (await fetch(`${service.url}/.well-known/tollgate-statement-key`)).text())
    assert.equal((await admin(environment, 'statement', 'verify', out, '--key', pem)).code, 0)
    await writeFile(out, (await readFile(out, 'utf8')).replace('sms,', 'sms,1'))
    const changed = await admin(environment, 'statement', 'verify', out)
    assert.deepEqual([changed.code, changed.stdout], [1, ''])
    assert.match(changed.stderr, /statement\.csv: .+ \/ .+\n$/)
    const asJson = await admin(environment, 'statement', 'verify', out, '--json')
    assert.equal((JSON.parse(asJson.stdout) as { valid: boolean }).valid, false)
    assert.notEqual(asJson.stderr, '')
    assert.equal(
      (await admin(environment, 'statement', 'make', account.username, '2099-01', '--out', out)).code,
      1,
    )
  })
  it('begin with what the ledger had, also while the month before is not frozen yet', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.parse('2026-01-20T12:00:00+08:00') }
    const db = withClock(fresh.db, clock)
    const first = [{ apiType: 'sms', amount: 100 }] as const
    const { id, username } = await createAccountWithoutKey(db, systemActor, { username: 'holder' }, first)
    const account = { id, username, created_at: clock.now }
    const credits = createCredits(db, 'secret')
    const statements = createStatements({ db, secretKey: 'secret' })
    const charge = (cost: number) =>
      credits.charge({ accountId: id, apiType: 'sms', action: 'test', cost, requestId: 'r' })
    const make = async (month: string) => {
      const { rows, content } = await statements.make(account, month)
      const { opening, closing } = rows.find(({ api_type: type }) => type === 'sms')!
      return { opening, closing, previous: /^previous,(.*)\r$/m.exec(content)![1] }
    }

    const march = Date.parse('2026-03-01T00:00:00+08:00')
    clock.now = march - 10 * dayMs
    await statements.freezeAll(new AbortController().signal)
    await charge(30)
    clock.now = march + 5 * minuteMs
    await charge(5)
    clock.now += minuteMs
    const { opening, closing } = await make('2026-03')
    assert.deepEqual({ opening, closing }, { opening: 70, closing: 65 })
    assert.equal((await make('2026-02')).closing, 70)
    clock.now = march + hourMs
    const later = await make('2026-03')
    const { digest, isFinal } = await statements.make(account, '2026-02')
    assert.equal(isFinal, true)
    assert.deepEqual(later, { opening: 70, closing: 65, previous: digest })
  })

  it('are read apart from paid calls, and frozen in transactions that do not read the ledger', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const account = await service.account({ sms: 3 })
    const withoutLedger = <Q extends Queries>(queries: Q): Q => ({
      ...queries,
      one: (sql: string, values?: readonly Value[]) => {
        assert.doesNotMatch(sql, /FROM ledger/)
        return queries.one(sql, values)
      },
    })
    const apart = {
      ...withoutLedger(db),
      write: <T>(job: Job<T>) => db.write((tx) => job(withoutLedger(tx))),
    }
    const statements = createStatements({ ...service.installation, db: apart })
    const made = await statements.make({ ...account, created_at: Date.now() }, monthOf(Date.now()))
    assert.equal(made.rows.find((row) => row.api_type === 'sms')?.bought, 3)
    await db.write((tx) =>
      tx.run(`UPDATE ledger SET at = at - ${40 * dayMs} WHERE account_id = ?`, [account.id]),
    )
    const holder = { ...account, created_at: Date.now() - 40 * dayMs }
    const last = await statements.make(holder, monthOf(Date.now() - 40 * dayMs))
    assert.deepEqual([last.isFinal, last.rows.find((row) => row.api_type === 'sms')?.bought], [true, 3])
  })
})
