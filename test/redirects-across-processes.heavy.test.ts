// Redirects on PostgreSQL come from a cache. Every process uses an API change on the next visit and any other change
// within a second, even when the notification channel fails.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { systemActor } from '../server/audit/audit.ts'
import { shortlink } from '../contract/shortlink.ts'
import { listenerName } from '../server/db/notifications.ts'
import { addPoolDomain } from '../server/shortlink/domains/domains.ts'
import { linkChannel } from '../server/shortlink/redirect/change-broadcast-store.ts'
import { type FaultyProxy, openFaultyProxy } from './support/faulty-proxy.ts'
import { type FreshStorage, freshStorage } from './support/engines.ts'
import { visit } from './support/new-connection.ts'
import {
  post,
  type ServiceProcess,
  spawnService,
  startService,
  type TestAccount,
  type TestService,
} from './support/service.ts'

/** The documented maximum delay of a change. */
const propagationMs = 1_000

void describe('redirects of two processes on one PostgreSQL', () => {
  let storage: FreshStorage
  let proxy: FaultyProxy
  let local: TestService
  let remote: ServiceProcess
  let holder: TestAccount

  before(async () => {
    storage = await freshStorage('postgres')
    proxy = await openFaultyProxy(storage.environment['DATABASE_URL']!)
    local = await startService('postgres', {}, storage)
    remote = await spawnService({ ...storage.environment, DATABASE_URL: proxy.url, SAMPLE_ACCOUNT: 'off' })
    holder = await local.account({ short_link: 100 })
  })

  after(async () => {
    await remote.kill('SIGKILL')
    await local[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await storage.remove()
  })

  async function call(values: Record<string, unknown>, url = local.url) {
    const reply = await post(`${url}${shortlink.path}`, {
      username: holder.username,
      api_key: holder.key,
      ...values,
    })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body.data as { link_id: number; short_code: string }
  }

  const createLink = (target_url: string) => call({ action: 'generate', target_url, title: 't' })

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${remote.url}/metrics`)).text()
    const line = text
      .split('\n')
      .find((entry) => entry.startsWith(`${name} `) || entry.startsWith(`${name}{in="memory"`))
    return Number(line?.split(' ').at(-1))
  }

  async function untilChannel(up: 0 | 1): Promise<void> {
    while ((await metric('tollgate_link_channel_up')) !== up) await sleep(20)
  }

  /** Visits twice, so that the other process has the link in its cache. */
  async function visitTwice(code: string, location: string): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      assert.equal((await visit(`${remote.url}/${code}`)).location, location)
    }
  }

  it('come from the cache, and use updates, refreshes, suspensions and new pools of the other process', async () => {
    const { link_id, short_code } = await createLink('https://example.com/1')
    await untilChannel(1)
    await visitTwice(short_code, 'https://example.com/1')
    const lookups = await metric('tollgate_link_lookups_total')
    for (let count = 0; count < 10; count += 1) await visit(`${remote.url}/${short_code}`)
    assert.equal((await metric('tollgate_link_lookups_total')) - lookups, 10)

    // The next visit uses the update, whichever process received it.
    for (let n = 2; n <= 20; n += 1) {
      const target_url = `https://example.com/${n}`
      await call({ action: 'update', link_id, target_url }, n % 4 === 0 ? remote.url : local.url)
      await visitTwice(short_code, target_url)
    }

    await call({
      action: 'update',
      link_id,
      target_url: 'https://example.com/3',
      redirect_url_a: 'https://example.com/a',
    })
    await addPoolDomain(local.installation.db, systemActor, 'b', 'pool-b.test')
    await sleep(propagationMs)
    const onPoolB = await visit(`${remote.url}/${short_code}`, { host: 'pool-b.test' })
    assert.equal(onPoolB.location, 'https://example.com/3')
    await visitTwice(short_code, 'https://example.com/a')

    const refreshed = await call({ action: 'execute_update', link_id })
    assert.equal((await visit(`${remote.url}/${short_code}`)).status, 410)
    await visitTwice(refreshed.short_code, 'https://example.com/a')

    const suspend = (suspended: number) =>
      local.installation.db.write((tx) =>
        tx.run('UPDATE account SET suspended = ? WHERE id = ?', [suspended, holder.id]),
      )
    await suspend(1)
    await sleep(propagationMs)
    assert.equal((await visit(`${remote.url}/${refreshed.short_code}`)).status, 410)
    await suspend(0)
    await sleep(propagationMs)
    await visitTwice(refreshed.short_code, 'https://example.com/a')
  })

  it('use an update in every listening process before its response is sent', async () => {
    const { link_id, short_code } = await createLink('https://example.com/1')
    await untilChannel(1)
    const third = new pg.Client({
      connectionString: storage.environment['DATABASE_URL'],
      application_name: listenerName,
    })
    await using cleanup = new AsyncDisposableStack()
    cleanup.defer(() => third.end())
    await third.connect()
    await third.query(`LISTEN ${linkChannel}`)
    let acks = 0
    let isSilent = false
    third.on('notification', ({ payload = '' }) => {
      if (isSilent || !payload.startsWith('request ')) return
      void sleep(200).then(() => {
        acks += 1
        return third.query(`SELECT pg_notify('${linkChannel}', $1)`, [
          `ack ${payload.slice('request '.length)}`,
        ])
      })
    })
    await call({ action: 'update', link_id, target_url: 'https://example.com/2' })
    assert.equal(acks, 1, 'the update waited for the acknowledgement')
    await visitTwice(short_code, 'https://example.com/2')

    // A process that does not acknowledge delays the update only for a limited time.
    isSilent = true
    await call({ action: 'update', link_id, target_url: 'https://example.com/4' })
    await visitTwice(short_code, 'https://example.com/4')
  })

  it('use a change of many links in one statement', async () => {
    const links = []
    for (let count = 0; count < 5; count += 1) links.push(await createLink('https://example.com/1'))
    await untilChannel(1)
    for (const { short_code } of links) await visitTwice(short_code, 'https://example.com/1')
    const { db } = local.installation
    for (const location of ['https://example.com/few', 'https://example.com/many']) {
      // In the second round the IDs exceed the size of one message.
      if (location.endsWith('many')) {
        await db.write((tx) =>
          tx.run(`INSERT INTO link (account_id, code, title, target_url, redirect_url_a, redirect_type, location_a,
              location_b, host_a, host_b, created_at, updated_at)
            SELECT account_id, 'none', '', '', '', 'direct', '', '', '', '', 0, 0 FROM link, generate_series(1, 100)`),
        )
      }
      await db.write((tx) => tx.run('UPDATE link SET location_a = ?', [location]))
      await sleep(propagationMs)
      for (const { short_code } of links) await visitTwice(short_code, location)
    }
  })

  it('use an update after the server closed the channel', async () => {
    const { link_id, short_code } = await createLink('https://example.com/1')
    for (let round = 2; round < 4; round += 1) {
      await untilChannel(1)
      await visitTwice(short_code, `https://example.com/${round - 1}`)
      await local.installation.db.all(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'tollgate listening' AND datname = current_database()`,
      )
      await call({ action: 'update', link_id, target_url: `https://example.com/${round}` })
      await sleep(propagationMs)
      await visitTwice(short_code, `https://example.com/${round}`)
    }
  })

  it('use an update while the channel drops all messages, and use the cache again after that', async () => {
    const { link_id, short_code } = await createLink('https://example.com/1')
    await untilChannel(1)
    await visitTwice(short_code, 'https://example.com/1')
    proxy.dropTraffic('LISTEN')
    await call({ action: 'update', link_id, target_url: 'https://example.com/2' })
    await sleep(propagationMs)
    await visitTwice(short_code, 'https://example.com/2')
    assert.equal(await metric('tollgate_link_channel_up'), 0)
    await call({ action: 'update', link_id, target_url: 'https://example.com/3' })
    await visitTwice(short_code, 'https://example.com/3')
    proxy.restoreTraffic()
    await untilChannel(1)
    await visitTwice(short_code, 'https://example.com/3')
  })

  it('use an update after the process was suspended', async () => {
    const { link_id, short_code } = await createLink('https://example.com/1')
    await untilChannel(1)
    await visitTwice(short_code, 'https://example.com/1')
    remote.child.kill('SIGSTOP')
    await call({ action: 'update', link_id, target_url: 'https://example.com/2' })
    await sleep(propagationMs)
    const pending = visit(`${remote.url}/${short_code}`)
    remote.child.kill('SIGCONT')
    assert.equal((await pending).location, 'https://example.com/2')
  })
})
