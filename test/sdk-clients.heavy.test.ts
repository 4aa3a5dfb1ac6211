// Runs the cases of sdk/cases.json with the client of every installed language against a live service.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { formatTime } from '../contract/time.ts'
import { checkLedger } from '../server/credits/ledger/check-store.ts'
import { generateWebhookSecret, signWebhook } from '../server/events/signature.ts'
import { exampleCallers } from './support/documented-call.ts'
import { root } from './support/root.ts'
import { freePort, startService, type TestService } from './support/service.ts'

const run = promisify(execFile)
const environment = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined }

type Fields = Readonly<Record<string, unknown>>

interface Step {
  readonly call: string
  readonly client?: Fields
  readonly params?: Fields
  readonly options?: Fields
  readonly save?: Readonly<Record<string, string>>
  readonly result?: unknown
  readonly error?: Fields & { readonly message_pattern?: string }
}

interface Answer {
  readonly result?: unknown
  readonly error?: Fields
}

interface Language {
  readonly probe: readonly [string, ...string[]]
  /** Compiles the client if necessary and returns the command that runs its driver. */
  readonly prepare: (folder: string) => Promise<readonly [string, ...string[]]>
}

const languages: Readonly<Record<string, Language>> = {
  'Node.js': {
    probe: [process.execPath, '--version'],
    prepare: async () => [process.execPath, join(root, 'sdk/node/tests/driver.ts')],
  },
  PHP: {
    probe: ['php', '-r', "exit(extension_loaded('curl') ? 0 : 1);"],
    prepare: async () => ['php', join(root, 'sdk/php/tests/driver.php')],
  },
  Python: {
    probe: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 8))'],
    prepare: async () => ['python3', '-B', join(root, 'sdk/python/tests/driver.py')],
  },
  Java: {
    probe: ['javac', '-version'],
    async prepare(folder) {
      const sources = globSync(join(root, 'sdk/java/src/**/*.java'))
      await run('javac', [
        '--release',
        '11',
        '-encoding',
        'UTF-8',
        '-Xlint:all',
        '-Werror',
        '-d',
        folder,
        ...sources,
      ])
      return ['java', '-cp', folder, 'io.tollgate.Driver']
    },
  },
  Go: {
    probe: ['go', 'version'],
    async prepare(folder) {
      const options = {
        cwd: join(root, 'sdk/go'),
        // Nothing is downloaded: the client uses the standard library only.
        env: {
          ...environment,
          GOFLAGS: '-mod=mod',
          GOPROXY: 'off',
          GOCACHE: join(folder, 'cache'),
          GOTOOLCHAIN: 'local',
        },
      }
      await run('go', ['vet', './...'], options)
      await run('go', ['build', '-o', join(folder, 'driver'), './internal/driver'], options)
      return [join(folder, 'driver')]
    },
  },
}

describe('clients', { concurrency: false }, () => {
  let service: TestService
  let faults: Server
  let faultUrl: string
  let closedUrl: string
  let accounts: Readonly<Record<string, { readonly username: string; readonly key: string }>>
  let cases: readonly { readonly name: string; readonly steps: readonly Step[] }[]

  before(async () => {
    service = await startService('sqlite')
    const callers = await exampleCallers(service)
    accounts = { sample: callers.sample, poor: callers['without credits'] }
    faults = createServer(misbehave(service.url)).listen(0, '127.0.0.1')
    // Calls over TLS. The socket is closed a moment later: Java's client may notice the end before it reads the response.
    faults.on('clientError', (_error, socket) => {
      socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')
      setTimeout(() => socket.destroy(), 500).unref()
    })
    await new Promise((resolve) => faults.once('listening', resolve))
    faultUrl = `http://127.0.0.1:${(faults.address() as AddressInfo).port}`
    closedUrl = `http://127.0.0.1:${await freePort()}`
    cases = (JSON.parse(await readFile(join(root, 'sdk/cases.json'), 'utf8')) as { cases: typeof cases })
      .cases
  })
  after(async () => {
    faults.closeAllConnections()
    faults.close()
    const { problems } = await checkLedger(service.installation.db, 10_000)
    await service[Symbol.asyncDispose]()
    assert.deepEqual(problems, [])
  })

  for (const [name, language] of Object.entries(languages)) {
    test(name, { timeout: 120_000 }, async (t) => {
      if (
        !(await run(language.probe[0], language.probe.slice(1)).then(
          () => true,
          () => false,
        ))
      ) {
        return t.skip(`${name} is not installed`)
      }
      const folder = await mkdtemp(join(tmpdir(), 'tollgate-client-'))
      t.after(() => rm(folder, { recursive: true, force: true }))
      const [program, ...parameters] = await language.prepare(folder)
      const driver = spawn(program, parameters, { stdio: ['pipe', 'pipe', 'inherit'], env: environment })
      t.after(() => driver.kill())
      const call = caller(driver)
      for (const { name: caseName, steps } of cases) {
        await t.test(caseName, async () => {
          const values = startValues(name)
          for (const step of steps) await runStep(step, values, call)
        })
      }
    })
  }

  async function runStep(step: Step, values: Map<string, unknown>, call: (line: Fields) => Promise<Answer>) {
    const { account = 'sample', fault, ...settings } = step.client ?? {}
    const { username, key } = accounts[account as string]!
    const base =
      fault === undefined
        ? service.url
        : fault === 'closed'
          ? closedUrl
          : fault === 'not-tls'
            ? faultUrl.replace('http:', 'https:')
            : `${faultUrl}/${fault as string}`
    const answer = await call({
      client: { base_url: base, username, api_key: key, ...settings },
      call: step.call,
      ...(step.params && { params: fill(step.params, values) }),
      ...(step.options && { options: fill(step.options, values) }),
    })
    const shown = `${step.call}: ${JSON.stringify(answer)}`
    if (step.error) {
      assert.ok(answer.error, shown)
      const { message_pattern: pattern, ...fields } = step.error
      expect(answer.error, fill(fields, values), shown)
      if (pattern !== undefined) assert.match(String(answer.error['message']), new RegExp(pattern))
      return
    }
    assert.ok('result' in answer && !answer.error, shown)
    if (step.result !== undefined) expect(answer.result, fill(step.result, values), shown)
    for (const [name, path] of Object.entries(step.save ?? {})) values.set(name, valueAt(answer.result, path))
  }
})

function startValues(language: string): Map<string, unknown> {
  const secret = generateWebhookSecret()
  const body = '{"type":"ping","timestamp":"2026-01-02T03:04:05+08:00","data":{"text":"短信"}}'
  const timestamp = Math.floor(Date.now() / 1000)
  return new Map<string, unknown>([
    ['run', language],
    ['tomorrow', formatTime(Date.now() + 86_400_000)],
    ['secret', secret],
    ['other_secret', generateWebhookSecret()],
    ['body', body],
    ['signed_headers', signWebhook({ id: 'evt_1', timestamp, body }, [generateWebhookSecret(), secret])],
    // Anybody can sign with an empty key.
    ['unkeyed_headers', signWebhook({ id: 'evt_1', timestamp, body }, ['whsec_'])],
    ['old_headers', signWebhook({ id: 'evt_1', timestamp: timestamp - 400, body }, [secret])],
  ])
}

/** One call at a time: a line to the driver, a line back. */
function caller(driver: ChildProcess): (line: Fields) => Promise<Answer> {
  const lines = createInterface({ input: driver.stdout! })[Symbol.asyncIterator]()
  return async (line) => {
    driver.stdin!.write(`${JSON.stringify(line)}\n`)
    const { value, done } = await lines.next()
    assert.ok(!done, 'the driver ended')
    return JSON.parse(value as string) as Answer
  }
}

/** Replaces `{name}` by saved values; `{name}+1` adds to a saved number. */
function fill(value: unknown, values: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(item, values))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, values)]))
  }
  if (typeof value !== 'string') return value
  const whole = /^\{(\w+)\}(?:\+(\d+))?$/.exec(value)
  if (whole)
    return whole[2] === undefined ? values.get(whole[1]!) : Number(values.get(whole[1]!)) + Number(whole[2])
  return value.replace(/\{(\w+)\}/g, (_, name: string) => String(values.get(name)))
}

/** Fields that are not expected may have any value. */
function expect(actual: unknown, expected: unknown, shown: string): void {
  if (expected === '$string') return assert.ok(typeof actual === 'string' && actual !== '', shown)
  if (expected === '$integer') return assert.ok(Number.isInteger(actual), shown)
  if (expected === '$list') return assert.ok(Array.isArray(actual), shown)
  if (expected === '$null' || expected === null)
    return assert.ok(actual === null || actual === undefined, shown)
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual) && actual.length === expected.length, shown)
    for (const [index, item] of expected.entries()) expect(actual[index], item, shown)
  } else if (typeof expected === 'object') {
    for (const [name, item] of Object.entries(expected))
      expect((actual as Fields | null)?.[name], item, shown)
  } else {
    assert.equal(actual, expected, shown)
  }
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => (inner as Fields | undefined)?.[name], value)
}

/** Fails in the way that the first part of the path names, and passes on what follows. */
function misbehave(target: string) {
  const seen = new Set<string>()
  const isFirst = (incoming: IncomingMessage) => {
    const key = String(incoming.headers['idempotency-key'] ?? incoming.socket.remotePort)
    return !seen.has(key) && seen.add(key)
  }
  const busy = (response: ServerResponse, seconds: string) => {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': seconds })
    response.end(JSON.stringify({ code: 429, message: '请求过于频繁', data: null }))
  }
  let isBusy = false
  let isRestarting = false
  return (incoming: IncomingMessage, response: ServerResponse) => {
    const [, fault, ...rest] = incoming.url!.split('/')
    const forward = (drop: boolean) => {
      const headers = { ...incoming.headers, host: new URL(target).host }
      const outgoing = request(
        `${target}/${rest.join('/')}`,
        { method: incoming.method, headers },
        (reply) => {
          if (drop) return reply.resume().on('end', () => response.destroy())
          response.writeHead(reply.statusCode!, reply.headers)
          reply.pipe(response)
        },
      )
      incoming.pipe(outgoing)
    }
    if (fault === 'lose-first-response') return forward(Boolean(isFirst(incoming)))
    if (fault === 'hang') return
    incoming.resume()
    if (fault === 'busy-long') return busy(response, '60')
    if (fault === 'busy-first') {
      isBusy = !isBusy
      return isBusy ? busy(response, '0.2') : forward(false)
    }
    if (fault === 'restart-first') {
      isRestarting = !isRestarting
      if (!isRestarting) return forward(false)
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '0.1' })
      return response.end(JSON.stringify({ code: 5000, message: '服务正在重启', data: null }))
    }
    if (fault === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      return response.write('{"code":0,', () => response.destroy())
    }
    if (fault === 'slow') {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drops = setInterval(() => response.write(' '), 50)
      return response.once('close', () => clearInterval(drops))
    }
    if (fault === 'huge') return response.writeHead(200).end(Buffer.alloc(17 * 1024 * 1024, ' '))
    if (fault === 'other-service') {
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}')
    }
    if (fault === 'redirect') return response.writeHead(302, { location: target }).end()
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
  }
}
