// The watch list: charges, verdict changes, pauses and retries.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../audit/audit.ts'
import { type FakeUpstream, startFakeUpstream, text } from '../../test/support/fake-upstream.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { changeAccount, requireAccount } from '../accounts/accounts.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import { claimDue } from './store.ts'
import { addWatch, listWatches, removeWatch } from './watch-list.ts'

const byName = (reported: ReadonlyMap<string, boolean>) =>
  [...reported].toSorted(([one], [other]) => one.localeCompare(other))

onEachEngine('watch list', (engine) => {
  let platform: FakeUpstream
  let service: TestService
  const stopped = new Set<string>()
  const broken = new Set<string>()

  before(async () => {
    platform = await startFakeUpstream((request) => {
      const target = new URL(request.query.get('target')!)
      if (broken.has(target.hostname)) return text(200, '验证')
      return stopped.has(target.hostname) ? text(200, '停止访问') : text(302, '', { location: target.href })
    })
    service = await startService(engine, {
      DOMAIN_GATEWAYS: 'jump',
      DOMAIN_JUMP_URL: `${platform.url}?target={url}`,
      DOMAIN_WATCH_LIMIT: '3',
    })
    // These tests run the rounds themselves.
    await service.app.services.jobs.stop()
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await platform.close()
  })

  const db = () => service.installation.db
  const round = () => service.app.domainCheck.watch.round()
  const add = (account: TestAccount, address: string) =>
    addWatch(db(), systemActor, { accountId: account.id, text: address, limit: 3 })
  const makeDue = () => db().write((tx) => tx.run(`UPDATE domain_watch SET due_at = ${tx.now}`))
  const remaining = async ({ id }: TestAccount) =>
    (await service.app.services.credits.balance(id, 'domain_check')).remaining
  const watched = async (account: TestAccount, host: string) => {
    const found = (await listWatches(db(), account.id)).find((one) => one.host === host)
    assert.ok(found)
    return found
  }
  const assertLedgerIsValid = async () => {
    const report = await checkLedger(db(), 0)
    assert.deepEqual([report.problems, report.open], [[], 0])
  }

  test('checks a new address immediately for one credit and stores verdict changes', async () => {
    const account = await service.account({ domain_check: 10 })
    await add(account, ' Watch1.Example ')
    await round()
    let one = await watched(account, 'watch1.example')
    assert.deepEqual(
      [one.address, one.verdict, one.last_result, one.pause_reason],
      ['Watch1.Example', 'passes', 'passes', null],
    )
    assert.equal(await remaining(account), 9)

    const asked = platform.requests.length
    await round()
    assert.equal(platform.requests.length, asked, 'not due yet')

    await makeDue()
    await round()
    stopped.add('watch1.example')
    await makeDue()
    await round()
    one = await watched(account, 'watch1.example')
    assert.equal(one.verdict, 'blocked')
    assert.deepEqual(
      one.history.map(({ verdict }) => verdict),
      ['blocked', 'passes'],
    )
    assert.equal(await remaining(account), 7)
    assert.ok(
      service.logged.some((line) => line.includes('watch1.example') && line.includes('"to":"blocked"')),
    )
    await assertLedgerIsValid()
  })

  test('refunds a failed check, keeps the verdict and retries sooner', async () => {
    const account = await service.account({ domain_check: 5 })
    await add(account, 'watch2.example')
    await round()
    broken.add('watch2.example')
    await makeDue()
    await round()
    const one = await watched(account, 'watch2.example')
    assert.deepEqual([one.verdict, one.last_result, one.history.length], ['passes', 'failed', 1])
    assert.ok(one.due_at - one.checked_at! <= 300_000)
    assert.equal(await remaining(account), 4)
    await assertLedgerIsValid()
  })

  test('pauses without credit, expired or suspended, and resumes later', async () => {
    const account = await service.account()
    const change = async (changes: Parameters<typeof changeAccount>[3]) =>
      changeAccount(db(), systemActor, await requireAccount(db(), account.username), changes)
    const pausedAfterRound = async () => {
      await makeDue()
      await round()
      return (await watched(account, 'watch3.example')).pause_reason
    }
    await add(account, 'watch3.example')
    assert.equal(await pausedAfterRound(), 'no_credit')
    await service.app.services.credits.grant({
      actor: systemActor,
      accountId: account.id,
      apiType: 'domain_check',
      amount: 1,
    })
    await change({ expires: '2020-01-01' })
    assert.equal(await pausedAfterRound(), 'expired')
    await change({ expires: 'never', suspended: true })
    assert.equal(await pausedAfterRound(), 'suspended')
    assert.equal(await remaining(account), 1)
    await change({ suspended: false })
    assert.equal(await pausedAfterRound(), null)
    assert.equal(await remaining(account), 0)
    await assertLedgerIsValid()
  })

  test('watches an address once, up to the limit, until it is removed', async () => {
    const account = await service.account()
    await add(account, 'one.example')
    await assert.rejects(add(account, 'http://ONE.example/'), { code: 1002 })
    await assert.rejects(add(account, '127.0.0.1'), { code: 1002 })
    const rest = await Promise.allSettled(
      ['two', 'three', 'four', 'five'].map((name) => add(account, `${name}.example`)),
    )
    assert.equal(rest.filter(({ status }) => status === 'fulfilled').length, 2)
    assert.equal((await listWatches(db(), account.id)).length, 3)
    await removeWatch(db(), systemActor, account.id, 'one.example')
    await assert.rejects(removeWatch(db(), systemActor, account.id, 'one.example'), { code: 1002 })
    const other = await service.account()
    await assert.rejects(removeWatch(db(), systemActor, other.id, 'two.example'), { code: 1002 })
    assert.equal((await listWatches(db(), account.id)).length, 2)
  })

  test('several processes never claim the same address', async () => {
    const account = await service.account()
    for (const name of ['x', 'y', 'z']) await add(account, `${name}.claim.example`)
    const claim = { intervalMs: 3_600_000, limit: 2, platformToo: false }
    const others = [service.storage.open(), service.storage.open()]
    await makeDue()
    const taken: number[] = []
    for (;;) {
      const claims = await Promise.all([db(), ...others].map((one) => one.write((tx) => claimDue(tx, claim))))
      const ids = claims.flat().map(({ id }) => id)
      if (ids.length === 0) break
      taken.push(...ids)
    }
    assert.equal(new Set(taken).size, taken.length)
    assert.ok(taken.length >= 3)
    for (const one of others) await one.close()
  })

  test('checks a domain after the clock was set back', async () => {
    const account = await service.account({ domain_check: 5 })
    await add(account, 'clock.example')
    await db().write((tx) =>
      tx.run(`UPDATE domain_watch SET due_at = ${tx.now} + 2592000000 WHERE account_id = ?`, [account.id]),
    )
    await round()
    assert.equal((await watched(account, 'clock.example')).verdict, 'passes')
  })

  test('watches the operator’s domains free of charge and reports their verdicts', async () => {
    let pools = ['a.pool.example', 'b.pool.example', 'localhost:3000']
    const reported = new Map<string, boolean>()
    service.app.domainCheck.watch.watchPlatformDomains(
      async () => pools,
      async (domain, blocked) => void reported.set(domain, blocked),
    )
    stopped.add('b.pool.example')
    await makeDue()
    await round()
    assert.deepEqual(byName(reported), [
      ['a.pool.example', false],
      ['b.pool.example', true],
    ])
    reported.clear()
    pools = ['b.pool.example', 'c.pool.example']
    stopped.delete('b.pool.example')
    await db().write((tx) => tx.run(`UPDATE domain_watch SET due_at = ${tx.now} WHERE account_id = 0`))
    await round()
    assert.deepEqual(byName(reported), [
      ['b.pool.example', false],
      ['c.pool.example', false],
    ])
    const watches = await listWatches(db(), 0)
    assert.deepEqual(watches.map(({ host }) => host).toSorted(), ['b.pool.example', 'c.pool.example'])
    assert.equal(watches.find(({ host }) => host === 'b.pool.example')?.history.length, 2)
    const charged = await db().one<{ count: number }>(
      `SELECT COUNT(*) AS count FROM operation WHERE account_id = 0`,
    )
    assert.equal(charged?.count, 0)
    await assertLedgerIsValid()
  })
})

onEachEngine('watch list job', (engine) => {
  test('checks due addresses and stops with the service', { timeout: 60_000 }, async () => {
    const service = await startService(engine, { DOMAIN_WATCH_S: '1' })
    const account = await service.account({ domain_check: 100 })
    await addWatch(service.installation.db, systemActor, {
      accountId: account.id,
      text: 'blocked.test',
      limit: 1,
    })
    let one = (await listWatches(service.installation.db, account.id))[0]
    while (one?.verdict !== 'blocked') {
      await sleep(10)
      one = (await listWatches(service.installation.db, account.id))[0]
    }
    const report = await checkLedger(service.installation.db, 5_000)
    assert.deepEqual(report.problems, [])
    await service[Symbol.asyncDispose]()
  })
})
