// Requests in flight while a password changes or an account is suspended: what the old password allowed is refused.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventRoutes } from '../../../contract/console/events.ts'
import { operatorAdminRoutes } from '../../../contract/console/operators.ts'
import { keyRoutes } from '../../../contract/console/key.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { pathOf } from '../../../contract/console/route.ts'
import { sessionRoutes } from '../../../contract/console/session.ts'
import { type Browser, createBrowser, operator, signedIn } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { admin, startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { systemActor } from '../../audit/audit.ts'
import { changeAccount, requireAccount } from '../../accounts/accounts.ts'
import { changeRole } from '../../accounts/operators.ts'
import { deleteSessions } from '../../accounts/session-store.ts'
import { findPasswordHash } from '../../accounts/store.ts'
import { listEndpoints } from '../../events/store.ts'

const newPassword = 'another horse 8'
const rounds = 5
const signInsPerRound = 6

onEachEngine('in flight', (engine) => {
  let service: TestService

  before(async () => void (service = await startService(engine, { TRUSTED_PROXIES: '127.0.0.1' })))
  after(() => service[Symbol.asyncDispose]())

  /** Signs in several times while `change` runs; returns how many of the sessions work afterwards. */
  async function countSurvivors(account: TestAccount, change: () => Promise<unknown>): Promise<number> {
    const browsers = Array.from({ length: signInsPerRound }, () => createBrowser(service))
    const signIns = browsers.map(async (browser, index) => {
      // The sign-ins start one turn of the event loop after the other, so that some are ahead of the change.
      for (let turn = 0; turn < index; turn += 1) await new Promise(setImmediate)
      return browser.signIn(account.username)
    })
    await Promise.all([...signIns, change()])
    const replies = await Promise.all(browsers.map((browser) => browser.call(sessionRoutes.me)))
    return replies.filter(({ status }) => status === 200).length
  }

  async function assertNoSurvivors(
    change: (account: TestAccount, browser: Browser) => Promise<unknown>,
  ): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const account = await service.account()
      const browser = await signedIn(service, account)
      assert.equal(await countSurvivors(account, () => change(account, browser)), 0, `round ${round}`)
    }
  }

  it('34 no session opened with the old password survives its change by the account holder', async () => {
    await assertNoSurvivors(async (account, browser) => {
      const sent = { current_password: account.password, new_password: newPassword }
      assert.equal((await browser.call(sessionRoutes.changePassword, { sent })).status, 200)
    })
  })

  it('34 no session opened with the old password survives a reset by an operator', async () => {
    const staff = await operator(service)
    await assertNoSurvivors(async ({ id }) => {
      const options = { parts: { id }, sent: { note: 'lost' } }
      assert.equal((await staff.call(operatorRoutes.resetPassword, options)).status, 200)
    })
  })

  it('34 no session opened with the old password survives account set --password', async () => {
    await assertNoSurvivors(async ({ username }) => {
      const { environment } = service.storage
      const result = await admin(environment, 'account', 'set', username, '--password', newPassword)
      assert.equal(result.code, 0, result.stderr)
    })
  })

  it('34 no session is left when an account is suspended while it signs in', async () => {
    const { db } = service.installation
    await assertNoSurvivors(async ({ username }) => {
      const account = await requireAccount(db, username)
      await changeAccount(db, systemActor, account, { suspended: true })
    })
    const left = await db.one<{ count: number }>(
      `SELECT COUNT(*) AS count FROM console_session s JOIN account a ON a.id = s.account_id WHERE a.suspended = 1`,
    )
    assert.equal(left?.count, 0)
  })

  it('34 a change by an operator whose session has ended is not written', async () => {
    const staff = await operator(service)
    const { db } = service.installation
    for (let round = 0; round < rounds; round += 1) {
      const target = await service.account()
      await staff.signIn(staff.username)
      const resets = Array.from({ length: 4 }, () =>
        staff.call(operatorRoutes.resetPassword, { parts: { id: target.id }, sent: { note: 'race' } }),
      )
      const hashAfterEnd = async () => {
        await db.write(async (tx) => deleteSessions(tx, (await requireAccount(tx, staff.username)).id))
        return findPasswordHash(db, target.id)
      }
      const [hash] = await Promise.all([hashAfterEnd(), ...resets])
      assert.equal(await findPasswordHash(db, target.id), hash, `round ${round}`)
    }
  })

  /** Sends the body after `change`, when the service has checked the access already. Returns the status. */
  async function statusAfter(
    browser: Browser,
    [method, path, body]: readonly [method: string, path: string, body: object],
    change: () => Promise<unknown>,
  ): Promise<number | undefined> {
    const sent = request(`${service.url}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        cookie: browser.cookie,
        'x-csrf-token': browser.csrf,
        expect: '100-continue',
      },
    })
    sent.flushHeaders()
    await once(sent, 'continue')
    await sleep(200)
    await change()
    sent.end(JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }

  it('34 a change by an operator whose role has changed before the body arrives is not written', async () => {
    const staff = await operator(service)
    const { db } = service.installation
    const { id } = await requireAccount(db, staff.username)
    const path = pathOf(operatorAdminRoutes.changeRole, { id })
    const status = await statusAfter(staff, ['PUT', path, { role: 'owner', note: 'again' }], async () =>
      changeRole(db, systemActor, await requireAccount(db, staff.username), 'auditor'),
    )
    assert.equal(status, 401)
    assert.equal((await requireAccount(db, staff.username)).operator_role, 'auditor')
  })

  it('34 a change by an account holder whose session has ended before the body arrives is not written', async () => {
    const { db } = service.installation
    const account = await service.account()
    const webhook = { url: 'https://example.com/thief', events: [] }
    const status = await statusAfter(
      await signedIn(service, account),
      ['POST', pathOf(eventRoutes.addWebhook), webhook],
      async () => {
        const owner = await signedIn(service, account)
        assert.equal((await owner.call(sessionRoutes.endOtherSessions)).body.ended, 1)
      },
    )
    assert.equal(status, 401)
    assert.deepEqual(await listEndpoints(db, account.id, 'webhook'), [])
  })

  it('34 of two changes of the password with the old one, one succeeds', async () => {
    const account = await service.account()
    const browser = await signedIn(service, account)
    const passwords = ['first horse 11', 'second horse 22', 'third horse 33']
    const replies = await Promise.all(
      passwords.map((password) =>
        browser.call(sessionRoutes.changePassword, {
          sent: { current_password: account.password, new_password: password },
        }),
      ),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    const signIns = await Promise.all(
      passwords.map((password) => createBrowser(service).signIn(account.username, password)),
    )
    assert.deepEqual(
      signIns.map(({ status }) => status === 200),
      replies.map(({ status }) => status === 200),
    )
  })

  it('34 a key reset confirmed with the old password fails once the password has changed', async () => {
    const { db } = service.installation
    for (let round = 0; round < rounds; round += 1) {
      const account = await service.account()
      const browser = await signedIn(service, account)
      const keyAfterChange = async () => {
        await changeAccount(db, systemActor, await requireAccount(db, account.username), {
          password: newPassword,
        })
        return (await requireAccount(db, account.username)).key_hash
      }
      const resets = Array.from({ length: 4 }, () =>
        browser.call(keyRoutes.reset, { sent: { password: account.password } }),
      )
      const [key] = await Promise.all([keyAfterChange(), ...resets])
      assert.equal((await requireAccount(db, account.username)).key_hash, key, `round ${round}`)
    }
  })
})
