// Every command that changes something is recorded in the audit log as `cli`.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../test/support/engines.ts'
import { listAudit } from '../server/audit/store.ts'
import { readConfig } from '../server/config.ts'
import type { Installation } from '../server/runtime/installation.ts'
import { accountCommands } from './accounts.ts'
import type { Flags } from './command.ts'
import { creditCommands } from './credits.ts'
import { watchCommands } from './domain-check.ts'
import { gatewayCommands } from './gateways.ts'
import { identityCommands } from './identity.ts'
import { domainCommands } from './shortlink.ts'
import { templateCommands } from './sms.ts'

const commands = [
  ...accountCommands,
  ...creditCommands,
  ...watchCommands,
  ...gatewayCommands,
  ...identityCommands,
  ...domainCommands,
  ...templateCommands,
]

onEachEngine('commands in the audit log', (engine) => {
  it('records every change with its target and details', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const installation = { db, secretKey: 'a secret for tests, long enough' } as Installation
    const run = async (name: string, words: readonly string[], flags: Flags = {}) => {
      const command = commands.find((one) => one.name === name)!
      const { json } = await command.run({ config: readConfig({}), installation, words, flags })
      return json as Readonly<Record<string, unknown>>
    }

    await run('account create', ['acme'], { credits: 'sms=5', expires: '2099-12-31' })
    await run('account set', ['acme'], { sms: 'no' })
    await run('account set', ['acme'], { password: 'seeded-horse-77' })
    await run('credits grant', ['acme', 'sms', '7'], { note: 'paid' })
    await run('credits take', ['acme', 'sms', '1'])
    await run('key reset', ['acme'])
    await run('key clear', ['acme'])
    await run('domain add', ['a', 'go.example.com'])
    await run('domain remove', ['a', 'go.example.com'])
    const words = { code: 'C1', name: '验证码', content: '您的验证码为${code}' }
    const { id } = await run('template add', [], { ...words, shared: true })
    await run('template edit', [String(id)], { name: '新名称' })
    await run('template review', [String(id)], { status: '审核不通过', reason: '含网址' })
    await run('template review', [String(id)], { status: '审核通过' })
    await run('template remove', [String(id)])
    await run('template add', ['acme'], { ...words, code: 'C2' })
    await run('watch add', ['acme', 'example.com'])
    await run('watch remove', ['acme', 'example.com'])
    await run('identity rotate-secret', [])
    await run('gateway test', ['sms', 'sandbox'])

    const entries = (await listAudit(db, {}, 100)).reverse()
    assert.ok(entries.every(({ actor }) => actor === 'cli'))
    assert.ok(!JSON.stringify(entries).includes('seeded-horse-77'))
    const template = { id, name: '新名称', code: 'C1' }
    assert.deepEqual(
      entries.map(({ action, target, note, details }) => [action, target, note, JSON.parse(details)]),
      [
        ['account.create', 'acme', '', { expires_on: '2099-12-31', sms: 5 }],
        ['account.change', 'acme', '', { sms_enabled: false }],
        ['account.reset_password', 'acme', '', {}],
        ['credits.grant', 'acme', 'paid', { api_type: 'sms', amount: 7 }],
        ['credits.take', 'acme', '', { api_type: 'sms', amount: 1 }],
        ['key.reset', 'acme', '', {}],
        ['key.clear', 'acme', '', {}],
        ['domain.add', 'go.example.com', '', { pool: 'a' }],
        ['domain.remove', 'go.example.com', '', { pool: 'a' }],
        ['template.create', 'C1', '', { ...template, name: '验证码', state: '审核通过' }],
        ['template.change', 'C1', '', template],
        ['template.refuse', 'C1', '', { ...template, reason: '含网址' }],
        ['template.approve', 'C1', '', template],
        ['template.delete', 'C1', '', template],
        ['template.create', 'acme', '', { ...entryDetails(entries, 14), name: '验证码', code: 'C2' }],
        ['watch.add', 'acme', '', { url: 'http://example.com/' }],
        ['watch.remove', 'acme', '', { url: 'http://example.com/' }],
        ['identity.rotate_secret', '#2', '', {}],
        ['gateway.test', 'sms sandbox', '', { ok: true }],
      ],
    )
  })

  it('records nothing for a change that fails', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const installation = { db, secretKey: 'a secret for tests, long enough' } as Installation
    const run = async (name: string, words: readonly string[], flags: Flags = {}) =>
      commands.find((one) => one.name === name)!.run({ config: readConfig({}), installation, words, flags })
    await run('account create', ['acme'])
    for (const [name, words] of [
      ['account create', ['acme']],
      ['credits take', ['acme', 'sms', '1']],
      ['domain remove', ['a', 'go.example.com']],
      ['template remove', ['1']],
      ['watch remove', ['acme', 'example.com']],
    ] as const) {
      await assert.rejects(run(name, words), name)
    }
    assert.deepEqual(
      (await listAudit(db, {}, 100)).map(({ action }) => action),
      ['account.create'],
    )
  })
})

function entryDetails(entries: readonly { readonly details: string }[], index: number) {
  return JSON.parse(entries[index]!.details) as Readonly<Record<string, unknown>>
}
