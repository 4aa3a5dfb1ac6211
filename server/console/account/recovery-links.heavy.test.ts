// Recovery links that are refused: old, wrong, and overtaken by a change of the account.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { securityRoutes } from '../../../contract/console/security.ts'
import { sessionRoutes } from '../../../contract/console/session.ts'
import { accountWithMail } from '../../../test/support/account-with-mail.ts'
import { createBrowser, operator, testPassword } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { type Mailbox, openMailbox } from '../../../test/support/mailbox.ts'
import { startService, type TestService } from '../../../test/support/service.ts'
import { insertMailToken } from '../../accounts/mail-store.ts'
import type { Tables } from '../../db/schema.ts'

onEachEngine('recovery links', (engine) => {
  let service: TestService
  let mailbox: Mailbox

  before(async () => {
    mailbox = await openMailbox()
    service = await startService(engine, { ...mailbox.environment, TRUSTED_PROXIES: '127.0.0.1' })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await mailbox.close()
  })

  const withMail = () => accountWithMail(service, mailbox)

  it('refuses a recovery link after 30 minutes', async () => {
    const { user, address } = await withMail()
    const visitor = createBrowser(service)
    await visitor.call(sessionRoutes.requestRecovery, { sent: { mail: address } })
    const [, token] = /recover#([\w-]{43})/.exec((await mailbox.next(address)).text)!
    await service.installation.db.write((tx) =>
      tx.run('UPDATE mail_token SET created_at = created_at - 1800000 WHERE account_id = ?', [user.id]),
    )
    const sent = { token, new_password: 'a new horse 1' }
    assert.equal((await visitor.call(sessionRoutes.recover, { sent })).status, 400)
    assert.equal((await visitor.signIn(user.username)).status, 200)
  })

  it('limits wrong recovery links by network and by IPv6 /48', async () => {
    const visitor = createBrowser(service)
    const statusFrom = async (from: string) =>
      (
        await visitor.call(sessionRoutes.recover, {
          sent: { token: 'x'.repeat(43), new_password: 'a new horse 1' },
          headers: { 'x-forwarded-for': from },
        })
      ).status
    for (let tried = 0; tried < 40; tried += 1) assert.equal(await statusFrom('198.51.100.44'), 400)
    assert.equal(await statusFrom('198.51.100.44'), 429)
    for (let net = 0; net < 160; net += 1)
      assert.equal(await statusFrom(`2001:db8:44:${net.toString(16)}::1`), 400)
    assert.equal(await statusFrom('2001:db8:44:ffff::1'), 429)
    assert.equal(await statusFrom('2001:db8:45::1'), 400)
  })

  it('refuses a recovery link after a change of the password', async () => {
    const { user, own, address } = await withMail()
    const visitor = createBrowser(service)
    const other = await operator(service)
    const requestLink = async () => {
      await visitor.call(sessionRoutes.requestRecovery, { sent: { mail: address } })
      return /recover#([\w-]{43})/.exec((await mailbox.next(address)).text)![1]!
    }
    const changes = [
      () =>
        own.call(sessionRoutes.changePassword, {
          sent: { current_password: testPassword, new_password: 'a new horse 1' },
        }),
      () => other.call(operatorRoutes.resetPassword, { parts: { id: user.id }, sent: { note: 'stolen' } }),
    ]
    for (const change of changes) {
      const token = await requestLink()
      assert.equal((await change()).status, 200)
      const sent = { token, new_password: 'a new horse 2' }
      assert.equal((await visitor.call(sessionRoutes.recover, { sent })).status, 400)
    }
  })

  it('refuses a recovery link that was on its way when the address was removed or replaced', async () => {
    const { user, own, address } = await withMail()
    const { db } = service.installation
    const visitor = createBrowser(service)
    const second = `${user.username}.2@example.com`
    const replace = async () => {
      await own.call(securityRoutes.setMail, { sent: { address: second } })
      const [, code] = /(\d{6})/.exec((await mailbox.next(second)).text)!
      return own.call(securityRoutes.verifyMail, { sent: { code } })
    }
    for (const [mail, change] of [
      [address, replace],
      [second, () => own.call(securityRoutes.removeMail)],
    ] as const) {
      await visitor.call(sessionRoutes.requestRecovery, { sent: { mail } })
      const [, token] = /recover#([\w-]{43})/.exec((await mailbox.next(mail)).text)!
      const sent = { token, new_password: 'a new horse 1' }
      const [row] = await db.all<Tables['mail_token']>(
        `SELECT * FROM mail_token WHERE account_id = ? AND purpose = 'recover'`,
        [user.id],
      )
      assert.equal((await change()).status, 200)
      assert.match((await mailbox.next(mail)).text, /不再使用此邮箱/)
      // As if its row had been written a moment later.
      await db.write((tx) => insertMailToken(tx, row!))
      assert.equal((await visitor.call(sessionRoutes.recover, { sent })).status, 400)
    }
    assert.equal((await visitor.signIn(user.username)).status, 200)
  })
})
