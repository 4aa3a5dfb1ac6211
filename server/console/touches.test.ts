// Pages of sessions and tokens that were not used for a minute, while the database cannot be written.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { keyRoutes } from '../../contract/console/key.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { pathOf } from '../../contract/console/route.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { operator, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService, type TestService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { createToken } from '../accounts/operators.ts'
import { idleMs } from '../accounts/session-store.ts'
import { requireAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { tokenPurpose } from './token-access.ts'

const minute = 60_000

/** Runs `statement` in a transaction of another process, which stays open during `work`. */
async function duringWrite(
  service: TestService,
  statement: string,
  work: () => Promise<void>,
): Promise<void> {
  const other = service.storage.open()
  const [began, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = other.write(async (tx) => {
    await tx.run(statement)
    began.resolve()
    await ended.promise
  })
  try {
    await Promise.race([began.promise, writing])
    await work()
  } finally {
    ended.resolve()
    await writing
    await other.close()
  }
}

onEachEngine('the time of the last use', (engine) => {
  it('of a session: pages do not wait for it, and a session that ends meanwhile stays ended', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const account = await service.account()
    const browser = await signedIn(service, account)
    const mine = `WHERE account_id = ${account.id}`
    const age = (ms: number) => `UPDATE console_session SET seen_at = seen_at - ${ms} ${mine}`
    const isRecent = async () =>
      (await db.one(`SELECT 1 FROM console_session ${mine} AND seen_at > ${db.now} - ${minute}`)) !==
      undefined
    await db.write((tx) => tx.run(age(2 * minute)))

    await duringWrite(service, age(0), async () => {
      for (const route of [sessionRoutes.me, keyRoutes.state, keyRoutes.state]) {
        assert.equal((await browser.call(route)).status, 200, route.path)
      }
    })
    await until(isRecent)

    await db.write((tx) => tx.run(age(2 * minute)))
    await duringWrite(service, age(idleMs), async () => {
      assert.equal((await browser.call(sessionRoutes.me)).status, 200)
    })
    assert.equal((await browser.call(sessionRoutes.me)).status, 401)
    await service.app.stop()
    assert.equal(await isRecent(), false)
  })

  it('of an operator token: pages do not wait for it', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const { username } = await operator(service)
    const { token, secret } = await createToken(
      db,
      systemActor,
      await requireAccount(db, username),
      { name: 'ci', scopes: ['accounts:read'] },
      service.app.services.secretFor(tokenPurpose),
    )
    await duringWrite(service, `UPDATE operator_token SET name = name WHERE id = ${token.id}`, async () => {
      const reply = await fetch(`${service.url}${pathOf(operatorRoutes.accounts, {})}`, {
        headers: { authorization: `Bearer ${secret}` },
      })
      assert.equal(reply.status, 200)
    })
    await until(
      async () => (await db.one('SELECT 1 FROM operator_token WHERE used_at IS NOT NULL')) !== undefined,
    )
  })
})
