// Sends known names, numbers, keys and passwords through all products and the console, and then searches for them in
// logs, errors, exports and a database dump. Input cannot forge log lines either.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { systemActor } from '../../server/audit/audit.ts'
import { creditRoutes } from '../../contract/console/credits.ts'
import { keyRoutes } from '../../contract/console/key.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { requestRoutes, searchRoutes } from '../../contract/console/requests.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { domainCheck } from '../../contract/domain-check.ts'
import { identity } from '../../contract/identity.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import { maskText } from '../../server/request-log/masking.ts'
import { checkDigitOf } from '../../contract/identity.ts'
import { writeBackup } from '../../server/operations/backup-store.ts'
import { createBrowser, operator, signedIn } from '../support/console.ts'
import { freshStorage, onEachEngine } from '../support/engines.ts'
import { admin, post, spawnService, startService, type TestService } from '../support/service.ts'

const digits = '33010219880317442'
const seeded = {
  name: '司徒翀睿',
  idcard: digits + checkDigitOf(digits),
  phone: '13764829105',
  code: '7391-seeded-code',
  password: 'seeded pass phrase 31',
  newPassword: 'seeded other phrase 32',
} as const

const endpoints = [shortlink, sms, identity, domainCheck]

/** Responses to search for leaks; successful API responses are excluded. */
interface CollectedOutput {
  readonly errors: string[]
  readonly exports: string[]
  /** Keys, tokens and passwords created during the test. */
  readonly secrets: string[]
}

async function useEverything(
  url: string,
  account: { username: string; key: string },
): Promise<CollectedOutput> {
  const output: CollectedOutput = { errors: [], exports: [], secrets: [account.key] }
  const common = { username: account.username, api_key: account.key }
  const values = {
    phone_number: seeded.phone,
    template_code: 'CODE',
    template_params: { code: seeded.code },
    name: seeded.name,
    idcard: seeded.idcard,
    target_url: `https://example.com/?p=${seeded.phone}`,
    title: `给 ${seeded.phone}`,
    urls: [`example.com/${seeded.phone}`],
  }
  const collect = async (response: Response) => {
    const text = await response.text()
    if (response.status >= 400) output.errors.push(text)
  }
  const actions = ['generate', 'send_sms', 'get_credits', 'get_logs', 'update', seeded.phone, seeded.idcard]
  for (const { path } of endpoints) {
    for (const action of actions) {
      const body = JSON.stringify({ ...common, ...values, action })
      const headers = { 'content-type': 'application/json', 'idempotency-key': `${seeded.phone}-${action}` }
      for (let round = 0; round < 2; round += 1)
        await collect(await fetch(url + path, { method: 'POST', headers, body }))
      await collect(await fetch(url + path, { method: 'POST', headers, body: body.slice(0, -3) }))
      await collect(await fetch(url + path, { method: 'PUT', headers, body }))
    }
    const invalid = {
      ...common,
      ...values,
      action: 'send',
      phone_number: `${seeded.phone}1`,
      idcard: `${seeded.idcard}0`,
    }
    await collect(await fetch(`${url}${path}?${new URLSearchParams(invalid as never).toString()}`))
    await collect(await fetch(`${url}${path}?api_key=${account.key}&idcard=${seeded.idcard}&name=%zz`))
    for (const field of Object.keys(values)) {
      const nested = {
        ...common,
        ...values,
        action: 'send',
        [field]: [[field === 'name' ? seeded.name : '', seeded.idcard, seeded.phone]],
      }
      await collect(
        await fetch(url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(nested),
        }),
      )
    }
  }
  await collect(await fetch(`${url}/${seeded.idcard}/${seeded.phone}?api_key=${account.key}`))
  await collect(
    await fetch(`${url}/receipts/sms/aliyun/${account.key}`, { method: 'POST', body: seeded.phone }),
  )
  return output
}

async function useConsole(service: TestService, output: CollectedOutput): Promise<void> {
  const { db } = service.installation
  const username = 'seeded-holder'
  await createAccount(db, systemActor, { username, password: seeded.password })
  const browser = createBrowser(service)
  const call = async (route: Parameters<typeof browser.text>[0], sent: Record<string, unknown> = {}) => {
    const { status, text } = await browser.text(route, { parts: { id: 1 }, sent })
    if (status >= 400) output.errors.push(text)
    return text
  }
  await call(sessionRoutes.signIn, { username, password: seeded.newPassword })
  await call(sessionRoutes.signIn, { username: seeded.password, password: seeded.password })
  await browser.signIn(username, seeded.password)
  output.secrets.push(browser.cookie!.split('=')[1]!, browser.csrf!)
  const { api_key: key } = JSON.parse(await call(keyRoutes.generate)) as { api_key: string }
  output.secrets.push(key)
  const reset = JSON.parse(await call(keyRoutes.reset, { password: seeded.password })) as { api_key: string }
  output.secrets.push(reset.api_key)
  await call(keyRoutes.reset, { password: seeded.newPassword })
  await call(sessionRoutes.changePassword, {
    current_password: seeded.newPassword,
    new_password: seeded.password,
  })
  await call(sessionRoutes.changePassword, {
    current_password: seeded.password,
    new_password: seeded.newPassword,
  })
  await call(searchRoutes.search, { q: seeded.phone })
  await call(searchRoutes.search, { q: seeded.idcard })
  await call(creditRoutes.redeem, { code: seeded.password })
  await call(operatorRoutes.createAccount, {
    username: seeded.phone,
    password: seeded.password,
    note: seeded.name,
  })
}

onEachEngine('seeded data', (engine) => {
  it(
    '27 appears in no log, error or export, and only in allowed tables of a dump',
    { timeout: 120_000 },
    async () => {
      await using service = await startService(engine)
      const { db } = service.installation
      const account = await service.account({
        short_link: 100,
        sms: 100,
        id_verification: 100,
        domain_check: 100,
      })
      await db.write((tx) =>
        tx.run(
          `INSERT INTO sms_template (account_id, code, name, content, variables, status, reason, gateway_codes, revision, created_at, updated_at)
         VALUES (?, 'CODE', 'n', '码\${code}', '["code"]', '审核通过', '', '{}', 1, 1, 1)`,
          [account.id],
        ),
      )
      assert.equal(maskText(`+86${seeded.phone} 0086${seeded.phone}`), '+86137****9105 0086137****9105')
      const output = await useEverything(service.url, account)
      await useConsole(service, output)
      // All calls again without the product tables: each call fails in the database.
      const tables = ['sms_send', 'identity_record', 'link']
      for (const table of tables)
        await db.write((tx) => tx.run(`ALTER TABLE ${table} RENAME TO ${table}_away`))
      const broken = await useEverything(service.url, account)
      assert.ok(broken.errors.some((text) => text.includes('5000') || text.includes('系统内部错误')))
      for (const table of tables)
        await db.write((tx) => tx.run(`ALTER TABLE ${table}_away RENAME TO ${table}`))
      await service.app.requestLog.flush()
      const browser = await signedIn(service, account)
      const operatorBrowser = await operator(service)
      for (const route of [requestRoutes.csv, creditRoutes.ledgerCsv]) {
        output.exports.push((await browser.text(route)).text)
      }
      output.exports.push((await operatorBrowser.text(operatorRoutes.auditCsv)).text)
      output.exports.push((await browser.text(requestRoutes.list)).text)
      output.exports.push(await service.app.services.metrics.metrics())

      const people = [seeded.name, seeded.idcard, seeded.phone, seeded.code]
      const secrets = [...output.secrets, seeded.password, seeded.newPassword]
      assert.ok(secrets.every((secret) => secret.length > 15))
      const assertAbsent = (where: string, text: string, values: readonly string[]) => {
        for (const value of values) {
          const at = text.indexOf(value)
          assert.equal(at, -1, `${where} contains ${value}: …${text.slice(Math.max(0, at - 80), at + 60)}…`)
        }
      }
      assert.ok(service.logged.length > 100 && service.logged.some((line) => line.includes('internal error')))
      assertAbsent('the log', service.logged.join(''), [...people, ...secrets])
      assertAbsent('an error', [...output.errors, ...broken.errors].join('\n'), [...people, ...secrets])
      assertAbsent('an export', output.exports.join('\n'), [...people, ...secrets])

      const file = join(service.storage.environment['DATA_DIR']!, 'dump.gz')
      await writeBackup(db, file)
      const dump = gunzipSync(await readFile(file)).toString()
      // `get_status` returns the phone number and the message; a link consists of its target and its title.
      const allowed = new Map<string, readonly string[]>([
        ['sms_send', [seeded.phone, seeded.code]],
        ['link', [seeded.phone]],
      ])
      let table = ''
      for (const line of dump.split('\n')) {
        table = /^\{"table":"(\w+)"/.exec(line)?.[1] ?? table
        const allowedHere = allowed.get(table) ?? []
        assertAbsent(`the table ${table}`, line, [
          ...people.filter((one) => !allowedHere.includes(one)),
          ...secrets,
        ])
      }
      assert.ok(dump.includes(seeded.phone), 'the dump has no known phone number')
    },
  )

  it('1 a dump contains no valid key, session or ID number', async () => {
    await using service = await startService(engine)
    const account = await service.account({ id_verification: 5 })
    const browser = await signedIn(service, account)
    await post(`${service.url}${identity.path}`, {
      api_key: account.key,
      name: seeded.name,
      idcard: seeded.idcard,
    })
    await service.app.requestLog.flush()
    const file = join(service.storage.environment['DATA_DIR']!, 'dump.gz')
    await writeBackup(service.installation.db, file)
    const dump = gunzipSync(await readFile(file)).toString()
    assert.ok(dump.includes('"identity_record"') && dump.includes(account.username))
    assert.doesNotMatch(dump, /tg_[0-9A-Za-z]{49}/)
    for (const secret of [
      browser.cookie!.split('=')[1]!,
      browser.csrf!,
      seeded.idcard,
      seeded.idcard.slice(6, 14),
    ]) {
      assert.ok(!dump.includes(secret))
    }
  })

  it('29 CR, LF and ANSI sequences create no log line', { timeout: 60_000 }, async () => {
    const storage = await freshStorage(engine)
    const service = await spawnService({ ...storage.environment, LOG_LEVEL: 'trace', SAMPLE_ACCOUNT: 'off' })
    const forged = '\r\n{"level":60,"msg":"forged"}\r\n\u001b[2J\u001b]0;forged\u0007\u2028\u0085'
    const created = await admin(
      storage.environment,
      'account',
      'create',
      'holder',
      '--credits',
      'sms=5',
      '--json',
    )
    const { api_key: key } = JSON.parse(created.stdout) as { api_key: string }
    for (const { path } of endpoints) {
      for (const api_key of [key, forged]) {
        const values = {
          username: 'holder',
          api_key,
          action: forged,
          name: forged,
          urls: [forged],
          phone_number: forged,
        }
        await (
          await fetch(`${service.url}${path}?${encodeURIComponent(forged)}=1`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(values),
          })
        ).arrayBuffer()
      }
    }
    await (await fetch(`${service.url}/${encodeURIComponent(forged)}`)).arrayBuffer()
    await post(`${service.url}/console/api/sign-in`, { username: forged, password: forged })
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () =>
        socket.end('GET /livez HTTP/1.1\r\nHost: x\r\nUser-Agent: \u001b[2Jforged\r\n\r\n', 'latin1'),
      )
      socket.on('error', () => undefined)
      socket.on('close', () => resolve())
      socket.resume()
    })
    assert.equal(await service.kill('SIGTERM'), 0)
    const lines = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') || line.includes('forged'))
    assert.ok(lines.length >= 9, String(lines.length))
    for (const line of lines) {
      const { level, msg } = JSON.parse(line) as { level: number; msg?: string }
      assert.ok(level < 50, line)
      assert.notEqual(msg, 'forged')
    }
    // oxlint-disable-next-line no-control-regex -- searches for control characters
    assert.doesNotMatch(service.output(), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028]/)
    await storage.remove()
  })

  it('33 an internal failure is returned only as an internal error', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const account = await service.account({ short_link: 5, sms: 5, id_verification: 5, domain_check: 5 })
    const [browser, operatorBrowser] = [await signedIn(service, account), await operator(service)]
    for (const table of [
      'operation',
      'credit',
      'request_log',
      'call_day',
      'audit',
      'redeem_batch',
      'ledger',
    ]) {
      await db.write((tx) => tx.run(`ALTER TABLE ${table} RENAME TO ${table}_away`))
    }
    const responses: string[] = []
    const record = (status: number, text: string) => {
      if (status >= 500) responses.push(text)
    }
    const values = {
      username: account.username,
      api_key: account.key,
      name: seeded.name,
      idcard: seeded.idcard,
      urls: ['example.com'],
      target_url: 'https://example.com/',
      title: 't',
    }
    for (const { path } of endpoints) {
      for (const action of ['generate', 'get_credits']) {
        const { status, body } = await post(
          `${service.url}${path}`,
          { ...values, action },
          { 'idempotency-key': 'k' },
        )
        record(status, JSON.stringify(body))
      }
    }
    for (const [client, routes] of [
      [browser, { ...creditRoutes, ...requestRoutes }],
      [operatorBrowser, operatorRoutes],
    ] as const) {
      for (const route of Object.values(routes)) {
        const sent = { note: 'n', amount: 1, count: 1, api_type: 'sms', direction: 'grant', q: 'x' }
        const pending = client.text(route, { parts: { id: account.id }, sent })
        // An error after the first byte of a file can only truncate it.
        if (route.path.endsWith('.csv')) await pending.then(undefined, () => undefined)
        else {
          const { status, text } = await pending
          record(status, text)
        }
      }
    }
    assert.ok(responses.length > 12, String(responses.length))
    for (const text of responses) {
      assert.doesNotMatch(
        text,
        /SELECT|INSERT|UPDATE|relation|no such table|sqlite|postgres|_away|\.ts\b|node:|\\n\s+at |ERR_/i,
        text,
      )
      assert.match(text, /系统内部错误|数据库暂时不可用|检测失败/, text)
    }
  })
})
