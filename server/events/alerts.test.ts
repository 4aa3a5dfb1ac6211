// Alert channels against a mail server and robots on loopback that verify signatures.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { eventRoutes } from '../../contract/console/events.ts'
import { signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { type FakeUpstream, type Handler, json, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { systemActor } from '../audit/audit.ts'
import { isMailAddress, refreshAlertTypes } from './alerts.ts'
import { signDingtalkUrl } from './channels/dingtalk.ts'
import { signFeishu } from './channels/feishu.ts'
import { cutToBytes } from './channels/robot.ts'
import { createEventRules } from './delivery.ts'
import { emitEvents, emitToOperators } from './emit.ts'
import { countRecentAttempts } from './health-store.ts'
import { findEndpoint, listDeliveries, listEndpoints } from './store.ts'

describe('robot signatures', () => {
  it('equal the reference values', () => {
    const secret = `SEC${'0'.repeat(62)}01`
    const url = new URL(signDingtalkUrl('https://example.com/send?access_token=x', secret, 1_767_323_045_000))
    assert.equal(url.searchParams.get('sign'), 'KkZ3fI3VvEyHwcx85tmAP1gdCRC1fS5+cwP1qyASlz4=')
    assert.match(url.search, /sign=KkZ3fI3VvEyHwcx85tmAP1gdCRC1fS5%2BcwP1qyASlz4%3D/)
    assert.equal(signFeishu('1661860880', 'xxx'), 'QnWVTSBe6FmQDE0bG6X0mURbI+DnvVyu1h+j5dHOjrU=')
    assert.equal(signFeishu('1767323045', 'test-secret-0001'), '15R54/t5f4fKisMJ4MUsFjwez9LmaAndl+d6t6BHtm4=')
  })

  it('cut a text between two characters', () => {
    assert.equal(cutToBytes('短信短信', 12), '短信短信')
    const cut = cutToBytes('短信'.repeat(1_000), 2_048)
    assert.ok(Buffer.byteLength(cut) <= 2_048 && cut.endsWith('…') && !cut.includes('\uFFFD'))
  })
})

describe('mail address', () => {
  it('is one plain address', () => {
    for (const good of ['a@example.com', 'first.last+tag@mail.example.cn'])
      assert.ok(isMailAddress(good), good)
    for (const bad of [
      '',
      'a',
      'a@b',
      'a@b c.com',
      'a@x.com,b@y.com',
      'A <a@x.com>',
      'a@x.com\r\nBcc: b@y.com',
    ])
      assert.ok(!isMailAddress(bad), bad)
  })
})

onEachEngine('alerts', (engine) => {
  let service: TestService
  let robot: FakeUpstream
  let smtp: SMTPServer
  const mails: { readonly to: string; readonly text: string }[] = []
  const accept: Handler = () => json(200, { errcode: 0, code: 0 })

  before(async () => {
    robot = await startFakeUpstream(accept)
    smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) =>
        done(
          address.startsWith('refused') ? Object.assign(new Error('unknown'), { responseCode: 550 }) : null,
        ),
      onData(stream, session, done) {
        let text = ''
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
        stream.on('end', () => {
          mails.push({ to: session.envelope.rcptTo[0]!.address, text })
          done()
        })
      },
    })
    smtp.listen(0, '127.0.0.1')
    await once(smtp.server, 'listening')
    const { port } = smtp.server.address() as AddressInfo
    service = await startService(engine, {
      WEBHOOK_ALLOW_PRIVATE: 'on',
      WEBHOOK_RETRY_S: '0,0',
      MAIL_URL: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
      MAIL_FROM: 'alerts@example.com',
    })
  })
  afterEach(() => robot.handle(accept))
  after(async () => {
    await service[Symbol.asyncDispose]()
    await robot.close()
    await new Promise<void>((resolve) => smtp.close(resolve))
  })

  const db = () => service.installation.db
  const rules = () => createEventRules(service.app.services).alerts
  const operator = async () => {
    const account = await service.account()
    await db().write((tx) => tx.run(`UPDATE account SET role = 'operator' WHERE id = ?`, [account.id]))
    return { ...account, role: 'operator' as const }
  }
  const add = async (
    account: TestAccount & { readonly role?: 'operator' },
    kind: string,
    target: string,
    secret?: string,
  ) => {
    const role = account.role ?? 'account'
    const input = { kind, target, secret, language: 'zh' } as const
    const { id, sent } = await rules().add(systemActor, { id: account.id, role }, input)
    return { sent, endpoint: async () => (await findEndpoint(db(), id))! }
  }
  const emitLow = (account: TestAccount, apiType = 'sms') =>
    db().write((tx) =>
      emitEvents(tx, [
        {
          accountId: account.id,
          type: 'credits.low',
          data: { api_type: apiType, remaining: 20, percent: 20 },
          alertKey: `credits.low ${apiType}`,
        },
      ]),
    )
  const sentTo = (path: string) => robot.requests.filter((request) => request.path === `/${path}`)
  const mailsTo = (address: string) => mails.filter(({ to }) => to === address)
  const deliveries = (id: number) => listDeliveries(db(), id, { before: undefined, limit: 10 })

  it('sends nothing before the channel is confirmed with its code', async () => {
    const account = await service.account()
    const { sent, endpoint } = await add(account, 'mail', 'holder@example.com')
    assert.ok(sent)
    await emitLow(account)
    assert.deepEqual(await deliveries((await endpoint()).id), [])
    const code = /(\d{6})/.exec(decodeMail(mailsTo('holder@example.com')[0]!.text))![1]!
    await assert.rejects(
      rules().confirm(systemActor, await endpoint(), code === '000000' ? '1' : '000000'),
      /code/,
    )
    await rules().confirm(systemActor, await endpoint(), code)
    await emitLow(account)
    await until(() => mailsTo('holder@example.com').length === 2)
    const alert = mailsTo('holder@example.com')[1]!.text
    assert.match(decodeMail(alert), /短信额度剩余 20 次/)
    assert.match(alert, /List-Unsubscribe-Post: List-Unsubscribe=One-Click/)
    const { id } = await endpoint()
    await until(async () => (await deliveries(id))[0]?.state === 'delivered')
    assert.deepEqual(await countRecentAttempts(db()), { attempts: 1, failed: 0 })
  })

  it('refuses the right code after five attempts', async () => {
    const account = await service.account()
    const { endpoint } = await add(account, 'mail', 'guessed@example.com')
    const code = /(\d{6})/.exec(decodeMail(mailsTo('guessed@example.com')[0]!.text))![1]!
    for (let i = 0; i < 5; i += 1) await assert.rejects(rules().confirm(systemActor, await endpoint(), 'x'))
    await assert.rejects(rules().confirm(systemActor, await endpoint(), code))
  })

  it('counts codes that are tried at the same time', async () => {
    const account = await service.account()
    const { endpoint } = await add(account, 'mail', 'parallel@example.com')
    const unconfirmed = await endpoint()
    await Promise.allSettled(Array.from({ length: 20 }, () => rules().confirm(systemActor, unconfirmed, 'x')))
    assert.equal((await endpoint()).confirm_attempts, 20)
  })

  it('sends a few codes to a target, however often it is added', async () => {
    const holders = [await service.account(), await service.account()]
    const statuses: number[] = []
    for (const holder of holders) {
      const browser = await signedIn(service, holder)
      for (let i = 0; i < 3; i += 1) {
        const sent = { kind: 'mail', target: 'flooded@example.com' }
        const { status, body } = await browser.call(eventRoutes.addAlertChannel, { sent })
        statuses.push(status)
        if (status === 200) await browser.call(eventRoutes.removeAlertChannel, { parts: { id: body.id } })
      }
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429])
    assert.equal(mailsTo('flooded@example.com').length, 5)
  })

  it('ends with one click on the unsubscribe link, and not by opening it', async () => {
    const account = await service.account()
    const { endpoint } = await add(account, 'mail', 'leaving@example.com')
    await rules().confirmByOperator(systemActor, await endpoint())
    const url = rules().unsubscribeUrl((await endpoint()).id)
    assert.equal((await fetch(url)).status, 200)
    assert.equal((await endpoint()).state, 'active')
    assert.equal((await fetch(`${url.slice(0, -1)}x`, { method: 'POST' })).status, 404)
    assert.equal((await fetch(url, { method: 'POST' })).status, 200)
    assert.deepEqual(
      [(await endpoint()).state, (await endpoint()).disabled_reason],
      ['disabled', 'unsubscribed'],
    )
    await emitLow(account)
    assert.deepEqual(await deliveries((await endpoint()).id), [])
  })

  it('sends at most one alert of a kind in an hour', async () => {
    const account = await service.account()
    const { endpoint } = await add(account, 'wecom', `${robot.url}often?key=abcd1234`)
    await rules().confirmByOperator(systemActor, await endpoint())
    for (let i = 0; i < 5; i += 1) await emitLow(account)
    await emitLow(account, 'short_link')
    const list = await deliveries((await endpoint()).id)
    assert.equal(list.length, 2)
    assert.doesNotMatch(rules().describeTarget(await endpoint()), /key=/)
    assert.ok(!(await endpoint()).url.includes('abcd1234'))
  })

  it('signs for DingTalk and Feishu', async () => {
    const account = await service.account()
    const secret = 'SEC-test'
    const verified: string[] = []
    robot.handle((request) => {
      const body = JSON.parse(request.body) as { timestamp?: string; sign?: string }
      const timestamp = request.query.get('timestamp') ?? body.timestamp ?? ''
      const expected =
        request.path === '/ding'
          ? createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64')
          : createHmac('sha256', `${timestamp}\n${secret}`).update('').digest('base64')
      const given = request.query.get('sign') ?? body.sign
      if (given === expected) verified.push(request.path)
      return json(200, given === expected ? { errcode: 0, code: 0 } : { errcode: 310_000, code: 19_021 })
    })
    for (const [kind, path] of [
      ['dingtalk', 'ding?access_token=t'],
      ['feishu', 'fei'],
    ] as const) {
      const { sent, endpoint } = await add(account, kind, robot.url + path, secret)
      assert.ok(sent, kind)
      await rules().confirmByOperator(systemActor, await endpoint())
    }
    await emitLow(account)
    await until(() => verified.length === 4)
  })

  it('disables a channel that the provider rejects, and retries one that is throttled', async () => {
    const account = await service.account()
    const rejected = await add(account, 'wecom', `${robot.url}rejected`)
    const throttled = await add(account, 'wecom', `${robot.url}throttled`)
    const busy = await add(account, 'dingtalk', `${robot.url}busy`)
    for (const one of [rejected, throttled, busy])
      await rules().confirmByOperator(systemActor, await one.endpoint())
    const codes: Readonly<Record<string, number>> = { '/rejected': 93_000, '/throttled': 45_009, '/busy': -1 }
    robot.handle(({ path }) => json(200, { errcode: codes[path] }))
    await emitLow(account)
    await until(async () => (await rejected.endpoint()).state === 'disabled')
    for (const one of [throttled, busy]) {
      await until(async () => (await deliveries((await one.endpoint()).id))[0]?.attempts === 1)
      const { state, paused_until: pausedUntil } = await one.endpoint()
      assert.equal(state, 'active')
      assert.ok(pausedUntil > 0)
    }
    assert.equal(sentTo('rejected').length, 2)
  })

  it('reach operators for conditions of the platform, and neither account holders nor suspended operators', async () => {
    const [chief, former, holder] = [await operator(), await operator(), await service.account()]
    for (const [account, path] of [
      [chief, 'chief'],
      [former, 'former'],
      [holder, 'holder'],
    ] as const) {
      const { endpoint } = await add(account, 'feishu', robot.url + path)
      await rules().confirmByOperator(systemActor, await endpoint())
    }
    await db().write((tx) => tx.run('UPDATE account SET suspended = 1 WHERE id = ?', [former.id]))
    await db().write((tx) => emitToOperators(tx, 'platform.gateway_down', { gateway: 'aliyun' }))
    await until(() => sentTo('chief').length === 2)
    assert.match(sentTo('chief')[1]!.body, /网关 aliyun/)
    assert.equal(sentTo('holder').length, 1)
    const { id } = (await listEndpoints(db(), former.id, 'alert'))[0]!
    assert.deepEqual(await deliveries(id), [], 'a suspended operator')
  })

  it('of an earlier version also receive the types that were added since', async () => {
    const chief = await operator()
    const { endpoint } = await add(chief, 'feishu', `${robot.url}old`)
    await rules().confirmByOperator(systemActor, await endpoint())
    const { id } = await endpoint()
    const old = 'platform.disk_low platform.gateway_down'
    await db().write(async (tx) => {
      await tx.run('UPDATE event_endpoint SET event_types = ? WHERE id = ?', [old, id])
      await tx.run('UPDATE account SET event_types = ? WHERE id = ?', [old, chief.id])
    })
    await refreshAlertTypes(db())
    const data = { pending: 10_000, overdue_minutes: 0 }
    await db().write((tx) => emitToOperators(tx, 'platform.webhook_backlog', data))
    await until(() => sentTo('old').length === 2)
    assert.match(sentTo('old')[1]!.body, /积压/)
  })
})

/** Decodes the base64 or quoted-printable text of a mail. */
function decodeMail(mail: string): string {
  const [head = '', ...rest] = mail.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString()
  const bytes = body.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => `%${hex}`)
  return decodeURIComponent(bytes)
}
