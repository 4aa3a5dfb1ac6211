// `npm run doctor` against running, stopped and damaged installations.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { emptyStorage, onEachEngine } from '../test/support/engines.ts'
import { runNode, startService } from '../test/support/service.ts'
import type { CommandResult } from './run-admin.ts'
import { runDoctor } from './run-doctor.ts'

interface Told {
  readonly ok: boolean
  readonly checks: readonly {
    readonly check: string
    readonly state: string
    readonly text: { readonly zh: string; readonly en: string }
    readonly fix?: { readonly zh: string; readonly en: string }
  }[]
}

const closing: (() => void)[] = []
after(() => closing.forEach((close) => close()))

function doctor(environment: Readonly<Record<string, string>>, ...words: string[]): Promise<CommandResult> {
  return runNode(['start.js', 'cli/doctor.ts', ...words], environment)
}

/** In this process, unless the process itself is tested. */
async function examine(
  environment: Readonly<Record<string, string>>,
  run: typeof doctor = async (given) => runDoctor(true, () => given),
): Promise<Told & { code: number | null }> {
  const { code, stdout, stderr } = await run(environment, '--json')
  assert.equal(stderr, '')
  return { ...(JSON.parse(stdout) as Told), code }
}

function stateOf(told: Told, check: string): string {
  return told.checks
    .filter((one) => one.check === check)
    .map((one) => one.state)
    .join(' ')
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-doctor-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A proxy like nginx: drops headers with an underscore unless told otherwise, and may say for whom it asks. */
async function proxyTo(
  target: string,
  behaviour: { underscores: boolean; forwards: boolean },
): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).filter(([name]) => behaviour.underscores || !name.includes('_')),
    )
    if (behaviour.forwards) headers['x-forwarded-for'] = '192.0.2.7'
    const forwarded = httpRequest(
      `${target}${incoming.url ?? ''}`,
      { method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    incoming.pipe(forwarded)
  })
  return addressOf(proxy)
}

async function addressOf(server: Server): Promise<string> {
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

onEachEngine('doctor', (engine) => {
  test('finds a running service well, and names what is behind or ahead of the schema', async () => {
    await using service = await startService(engine)
    const environment = { ...service.storage.environment, PUBLIC_URL: service.url }
    const well = await examine(environment, doctor)
    assert.deepEqual(
      well.checks.filter((one) => one.state === 'fail'),
      [],
    )
    assert.deepEqual([well.ok, well.code], [true, 0])
    for (const check of [
      'settings',
      'console',
      'folder',
      'disk',
      'database',
      'schema',
      'clock',
      'service',
      'proxy',
      'headers',
    ]) {
      assert.equal(stateOf(well, check), 'ok', check)
    }
    const { db } = service.installation
    await db.write((tx) => tx.run(`DELETE FROM migration WHERE name LIKE '0005%'`))
    assert.equal(stateOf(await examine(environment), 'schema'), 'warn')
    await db.write((tx) => tx.run(`INSERT INTO migration (name, applied_at) VALUES ('9999-future', 0)`))
    const ahead = await examine(environment)
    assert.deepEqual([stateOf(ahead, 'schema'), ahead.code], ['fail', 1])
  })
})

describe('doctor', () => {
  test('says that an empty PostgreSQL database has no schema yet', async () => {
    const storage = await emptyStorage('postgres')
    const told = await examine(storage.environment)
    assert.deepEqual(
      told.checks.filter(({ check, state }) => check !== 'secret' && check !== 'service' && state !== 'ok'),
      [],
    )
    const schema = told.checks.find(({ check }) => check === 'schema')
    assert.match(schema?.text.en ?? '', /no schema yet.*first start or admin migrate/)
    await storage.remove()
  })

  test('compares the connections of the service with what PostgreSQL allows', async () => {
    await using service = await startService('postgres')
    const environment = { ...service.storage.environment, PUBLIC_URL: service.url }
    const connections = async (more: Record<string, string>) => {
      const { checks } = await examine({ ...environment, ...more })
      return checks.find(({ check }) => check === 'connections')
    }
    const one = await connections({})
    assert.equal(one?.state, 'ok')
    assert.match(one.text.en, /up to 18 connections.*1 processes are running/)
    assert.match((await connections({ WORKERS: '2', DATABASE_POOL: '20' }))?.text.en ?? '', /up to 52 /)
    const many = await connections({ WORKERS: '20' })
    assert.equal(many?.state, 'fail')
    assert.match(many.fix?.en ?? '', /DATABASE_POOL/)
  })

  test('a proxy that drops underscores, says nothing, or is not believed', async () => {
    await using service = await startService('sqlite')
    await using trusting = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
    const environment = (url: string) => ({ ...service.storage.environment, PUBLIC_URL: url })

    const dropping = await examine(
      environment(await proxyTo(service.url, { underscores: false, forwards: true })),
    )
    assert.deepEqual(
      [stateOf(dropping, 'headers'), stateOf(dropping, 'proxy'), dropping.code],
      ['fail', 'fail', 1],
    )
    const fix = dropping.checks.map((one) => one.fix?.zh ?? '').join('\n')
    assert.match(fix, /underscores_in_headers on/)
    assert.match(fix, /TRUSTED_PROXIES/)

    const good = await examine(
      environment(await proxyTo(trusting.url, { underscores: true, forwards: true })),
    )
    assert.deepEqual([stateOf(good, 'headers'), stateOf(good, 'proxy'), good.code], ['ok', 'ok', 0])
  })

  test('changes nothing: an empty folder stays empty', async () => {
    const folder = emptyFolder()
    const told = await examine({ DATA_DIR: join(folder, 'data'), PUBLIC_URL: 'http://127.0.0.1:9' }, doctor)
    assert.equal(stateOf(told, 'service'), 'fail')
    assert.equal(stateOf(told, 'database'), 'ok')
    assert.ok(!existsSync(join(folder, 'data')))
  })

  test('wrong settings: every problem, nothing else', async () => {
    const told = await examine({ DATA_DIR: emptyFolder(), PORT: 'many', SMS_GATEWAYS: 'aliyun' })
    assert.deepEqual([stateOf(told, 'settings'), told.code], ['fail fail fail', 1])
    assert.match(
      told.checks.map((one) => one.text.zh).join('\n'),
      /PORT[\s\S]*ALIYUN_ACCESS_KEY_ID[\s\S]*ALIYUN_ACCESS_KEY_SECRET/,
    )
  })

  test('gateways: reached, refused, switched off', async () => {
    const gateway = createTcpServer(() => undefined)
    await new Promise<void>((listening) => gateway.listen(0, '127.0.0.1', listening))
    const { port } = gateway.address() as { port: number }
    closing.push(() => gateway.close())
    const told = await examine({
      DATA_DIR: emptyFolder(),
      PUBLIC_URL: 'http://127.0.0.1:9',
      SMS_GATEWAYS: 'http,aliyun',
      SMS_HTTP_URL: `http://127.0.0.1:${port}/send`,
      SMS_HTTP_SECRET: 'a secret that is not shown',
      ALIYUN_ACCESS_KEY_ID: 'id',
      ALIYUN_ACCESS_KEY_SECRET: 'another secret',
      ALIYUN_SMS_ENDPOINT: 'http://127.0.0.1:9/',
      IDENTITY_GATEWAYS: 'off',
      DOMAIN_GATEWAYS: 'jump',
      DOMAIN_JUMP_URL: 'https://127.0.0.1:9/?target={url}',
    })
    assert.equal(stateOf(told, 'gateways'), 'ok fail warn fail')
    assert.equal(stateOf(told, 'settings'), 'ok warn', 'the gateway jump has no canaries')
    assert.doesNotMatch(JSON.stringify(told), /secret that|another secret/)
  })

  test('a secret that others can read, a database that is none, a public address without TLS', async () => {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'secret.key'), 'x'.repeat(43))
    chmodSync(join(folder, 'secret.key'), 0o644)
    writeFileSync(
      join(folder, 'tollgate.db'),
      'this is no database, only text that is long enough'.repeat(20),
    )
    const told = await examine({ DATA_DIR: folder, HOST: '0.0.0.0', PORT: '9' })
    assert.deepEqual(
      ['secret', 'database', 'address'].map((check) => stateOf(told, check)),
      ['fail', 'fail', 'fail'],
    )
    const away = await examine({
      DATA_DIR: emptyFolder(),
      DATABASE_URL: 'postgres://nobody:hidden@127.0.0.1:9/none',
      PUBLIC_URL: 'http://127.0.0.1:9',
    })
    assert.equal(stateOf(away, 'database'), 'fail')
    assert.doesNotMatch(JSON.stringify(away), /hidden/)
  })

  test('explains itself, tells a slip in one line, and speaks plainly without --json', async () => {
    const help = await doctor({}, '--help')
    assert.deepEqual([help.code, help.stderr], [0, ''])
    assert.match(help.stdout, /npm run --silent doctor/)
    const slip = await doctor({}, '--fix')
    assert.equal(slip.code, 1)
    assert.match(slip.stderr, /^[^\n]+--help\n$/)
    const plain = await doctor({ DATA_DIR: emptyFolder(), PUBLIC_URL: 'http://127.0.0.1:9' })
    assert.equal(plain.code, 1)
    assert.match(plain.stdout, /✓ settings[\s\S]*✗ service[\s\S]*→ [\s\S]*必须修正 1 项/)
  })
})
