// Sends a known name and ID number in every parameter source and with every outcome, and then searches for them in the
// database files, all tables, a backup, and everything written to stdout, stderr and the log.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { identity } from '../contract/identity.ts'
import { checkDigitOf } from '../contract/identity.ts'
import { listTables } from '../server/db/catalog.ts'
import { type FreshStorage, freshStorage, onEachEngine } from './support/engines.ts'
import {
  type Behaviour,
  cutInBody,
  hang,
  json,
  type RecordedRequest,
  startFakeUpstream,
  text,
} from './support/fake-upstream.ts'
import { admin, type ServiceProcess, spawnService, startService } from './support/service.ts'

const name = '欧阳翀煜'
const digits = '42011219870923330'
const number = digits + checkDigitOf(digits)
const wrongNumber = digits + (number.endsWith('0') ? '1' : '0')
const latinName = 'Zyxwv Qponm'
const gbkName = Buffer.from([0xc5, 0xb7, 0xd1, 0xf4, 0xc1, 0x88, 0xec, 0xcf])

/** All forms in which the data could leak: plain, encoded, escaped, or hashed without a key. */
const leakedForms: readonly Buffer[] = [
  ...[name, latinName, number, number.toLowerCase(), wrongNumber, number.slice(6, 14)].flatMap((secret) => [
    Buffer.from(secret),
    Buffer.from(secret, 'utf16le'),
    Buffer.from(encodeURIComponent(secret)),
    Buffer.from(new URLSearchParams({ secret }).toString().slice(7)),
    Buffer.from(secret.replaceAll(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`)),
    Buffer.from(Buffer.from(secret).toString('latin1'), 'utf8'),
    Buffer.from(Buffer.from(secret).toString('hex')),
  ]),
  gbkName,
  ...['sha256', 'sha1', 'md5'].flatMap((algorithm) =>
    [number, name, `${name}${number}`, `${number}${name}`].flatMap((secret) =>
      (['hex', 'base64', 'base64url'] as const).map((encoding) =>
        Buffer.from(createHash(algorithm).update(secret).digest(encoding)),
      ),
    ),
  ),
]

function assertClean(where: string, bytes: Buffer | string): void {
  const content = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)
  for (const form of leakedForms) {
    assert.ok(!content.includes(form), `${where} contains ${form.toString()}`)
  }
}

/** An upstream that repeats the request in every part of its responses. */
function quoteRequest(request: RecordedRequest): Behaviour {
  const sent = `${decodeURIComponent(request.target)} ${name} ${number}`
  const behaviours: readonly Behaviour[] = [
    json(200, { code: '0', data: { result: 1, address: '某地', name, idCard: number }, msg: sent }),
    json(200, { code: '0', data: { result: 2 }, msg: sent }),
    json(200, { code: '0', data: { result: 3 }, msg: sent }),
    json(200, { code: number, msg: sent, data: { result: name } }),
    json(200, { code: '0', data: { result: number } }),
    text(502, `<html>${sent}</html>`),
    text(400, sent, { 'x-ca-error-message': encodeURIComponent(sent), 'x-ca-error-code': number }),
    cutInBody(`{"code":"0","msg":"${name} ${number}`),
  ]
  turn += 1
  return behaviours[turn % behaviours.length]!
}
let turn = -1

/** Sends valid and malformed requests in every parameter source, with valid and wrong keys. */
async function sendEverything(url: string, key: string): Promise<void> {
  const target = `${url}${identity.path}`
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const asJson = { 'content-type': 'application/json' }
  const headerName = Buffer.from(name).toString('latin1')
  for (const apiKey of [key, 'wrong', `tg_${'a'.repeat(49)}`, '']) {
    const pairs = [
      { name, idcard: number },
      { name, idcard: wrongNumber },
      { name: `${name}9`, idcard: number.toLowerCase() },
      { name: latinName, idcard: number },
      { name },
      { idcard: number },
    ]
    // A wrong key is rejected before other errors.
    for (const pair of apiKey === key ? pairs : pairs.slice(0, 2)) {
      const given = { ...pair, api_key: apiKey }
      const query = new URLSearchParams(given as Record<string, string>).toString()
      const multipart = new FormData()
      for (const [field, value] of Object.entries(given)) multipart.set(field, value)
      const headers: Record<string, string> = { ...given }
      if ('name' in headers) headers['name'] = Buffer.from(headers['name']!).toString('latin1')
      const calls: [string, RequestInit][] = [
        [`${target}?${query}`, {}],
        [target, { headers }],
        [target, { method: 'POST', body: JSON.stringify(given), headers: asJson }],
        [target, { method: 'POST', body: query, headers: form }],
        [target, { method: 'POST', body: multipart }],
      ]
      for (const [where, init] of calls) await send(where, init)
    }
    const gbk = Buffer.concat([Buffer.from(`api_key=${apiKey}&idcard=${number}&name=`), gbkName])
    await send(target, {
      method: 'POST',
      body: gbk,
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=gbk' },
    })
  }
  const malformed: [string, RequestInit][] = [
    [target, { method: 'POST', body: `{"name":"${name}","idcard":"${number}"`, headers: asJson }],
    [target, { method: 'POST', body: JSON.stringify({ name: [name], idcard: { number } }), headers: asJson }],
    [target, { method: 'POST', body: `{"idcard":${number.replace('X', '1')}}`, headers: asJson }],
    [target, { method: 'POST', body: `name=%E6%AC${name}&idcard=${number}%ZZ`, headers: form }],
    [target, { method: 'PUT', body: JSON.stringify({ name, idcard: number }), headers: asJson }],
    [target, { method: 'POST', body: `${name}${number}`.repeat(60_000), headers: asJson }],
    [`${url}/${encodeURIComponent(name)}/${number}?name=${number}`, {}],
    [`${url}/api/sms_api.php?action=${encodeURIComponent(name)}&api_type=${number}&api_key=${key}`, {}],
    [
      target,
      {
        method: 'POST',
        body: `--x\r\ncontent-disposition: form-data; name="name"\r\n\r\n${name} ${number}`,
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      },
    ],
    [target, { headers: { name: headerName, idcard: number, api_key: key, 'x-request-id': number } }],
    [target, { headers: { name: headerName, idcard: number, api_key: key, 'accept-language': 'en' } }],
  ]
  for (const [where, init] of malformed) await send(where, init)
  await sendBytes(
    url,
    `POST ${identity.path} HTTP/1.1\r\nHost: x\r\nname: ${name}\r\nidcard ${number}\r\n\r\n`,
  )
  await sendBytes(url, `GET /${name} ${number} HTTP/1.1\r\n\r\n`)
  for (const repeat of ['same', 'same', 'other']) {
    await send(target, {
      method: 'POST',
      body: JSON.stringify({ api_key: key, name, idcard: number }),
      headers: { ...asJson, 'idempotency-key': repeat },
    })
  }
}

async function send(where: string, init: RequestInit): Promise<void> {
  try {
    const response = await fetch(where, init)
    // Errors never repeat the input. The `extra` of a verdict contains data derived from the number.
    const body = await response.text()
    if (!body.includes('"matched":true')) assertClean(`the response ${body.slice(0, 200)}`, body)
  } catch (error) {
    // The connection closes while the oversized body is being sent.
    if (!(error instanceof TypeError)) throw error
  }
}

async function sendBytes(url: string, bytes: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.resume()
  socket.end(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
}

async function assertStorageClean(storage: FreshStorage): Promise<void> {
  const db = storage.open()
  await db.snapshot(async (snapshot) => {
    for (const table of [...(await listTables(snapshot)), 'migration']) {
      for await (const rows of snapshot.rows(table)) assertClean(`table ${table}`, JSON.stringify(rows))
    }
  })
  const count = await db.one<{ count: number }>('SELECT COUNT(*) AS count FROM identity_record')
  assert.ok((count?.count ?? 0) > 20, 'too few records')
  await db.close()
}

onEachEngine('personal data', (engine) => {
  it('is not stored anywhere', async (t) => {
    const upstream = await startFakeUpstream(quoteRequest)
    const storage = await freshStorage(engine)
    const started: ServiceProcess[] = []
    t.after(async () => {
      for (const service of started) await service.kill('SIGKILL')
      await upstream.close()
      await storage.remove()
    })
    const start = async () => {
      const service = await spawnService(environment)
      started.push(service)
      return service
    }
    const environment = {
      ...storage.environment,
      LOG_LEVEL: 'trace',
      IDENTITY_GATEWAYS: 'market,tencent',
      IDENTITY_MARKET_PRESET: 'sxidcheck',
      IDENTITY_MARKET_URL: `${upstream.url}idcard/check`,
      IDENTITY_MARKET_APPCODE: 'code',
      TENCENT_SECRET_ID: 'id',
      TENCENT_SECRET_KEY: 'key',
      TENCENT_IDENTITY_ENDPOINT: 'http://127.0.0.1:9/',
      GATEWAY_TIMEOUT_MS: '20000',
      OPERATION_LEASE_S: '1',
      SWEEP_S: '1',
      IDENTITY_REPEAT_S: '0',
    }
    const output: string[] = []
    const command = async (...args: string[]) => {
      const { code, stdout, stderr } = await admin(environment, ...args)
      assert.equal(code, 0, stderr)
      output.push(stdout, stderr)
      return stdout
    }
    const created = await command(
      'account',
      'create',
      'holder',
      '--credits',
      'id_verification=1000',
      '--json',
    )
    const { api_key: key } = JSON.parse(created) as { api_key: string }

    const first = await start()
    await sendEverything(first.url, key)
    await killDuringCall(first, key)
    output.push(first.output())

    upstream.handle(quoteRequest)
    const second = await start()
    await sendEverything(second.url, key)
    // Without the table, ending the call fails in the database.
    await withoutRecordTable(storage, async () => sendEverything(second.url, key))
    // The sweeper refunds the held operations.
    while (!(await hasNoHeldOperations())) await sleep(200)
    const backup = join(storage.environment['DATA_DIR']!, 'backup.gz')
    await command('backup', backup)
    if (engine === 'sqlite') await assertFilesClean(storage)
    await command('identity', 'rotate-secret')
    await second.kill('SIGTERM')
    output.push(second.output())

    assert.ok(output.join('').includes('identity gateway failed'), 'the log has no gateway failure')
    assert.ok(output.join('').includes('internal error'), 'the log has no internal error')
    assertClean('the output', output.join('\n'))
    assertClean('the backup', gunzipSync(await readFile(backup)))
    await assertStorageClean(storage)
    await assertFilesClean(storage)

    async function killDuringCall(service: ServiceProcess, apiKey: string): Promise<void> {
      upstream.handle(() => hang())
      const before = upstream.requests.length
      const call = send(`${service.url}${identity.path}`, {
        method: 'POST',
        body: JSON.stringify({ api_key: apiKey, name, idcard: number }),
        headers: { 'content-type': 'application/json', 'idempotency-key': 'killed' },
      })
      while (upstream.requests.length === before) await sleep(20)
      if (engine === 'sqlite') await assertFilesClean(storage)
      await service.kill('SIGKILL')
      await call
    }

    async function hasNoHeldOperations(): Promise<boolean> {
      const report = JSON.parse(await command('ledger', 'check', '--json')) as { ok: boolean; open: number }
      return report.ok && report.open === 0
    }
  })

  it('is not in the log or the metrics', async () => {
    await using service = await startService(engine)
    const account = await service.account({ id_verification: 100 })
    await sendEverything(service.url, account.key)
    assert.ok(service.logged.length > 50)
    assertClean('the log', service.logged.join(''))
    assertClean('the metrics', await service.app.services.metrics.metrics())
  })
})

async function withoutRecordTable(storage: FreshStorage, run: () => Promise<void>): Promise<void> {
  const db = storage.open()
  await db.write((tx) => tx.run('ALTER TABLE identity_record RENAME TO identity_record_away'))
  await run()
  await db.write((tx) => tx.run('ALTER TABLE identity_record_away RENAME TO identity_record'))
  await db.close()
}

/** Checks all files of the data folder: database, WAL, secret, backup. */
async function assertFilesClean(storage: FreshStorage): Promise<void> {
  const directory = storage.environment['DATA_DIR']!
  const files = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const file of files) {
    if (file.isFile()) assertClean(file.name, await readFile(join(file.parentPath, file.name)))
  }
}
