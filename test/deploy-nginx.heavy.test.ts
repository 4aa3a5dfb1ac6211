// Checks deploy/nginx.conf: its syntax, and its behaviour with TLS where nginx is installed.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { root } from './support/root.ts'
import { freePort, runNode, startService } from './support/service.ts'

const run = promisify(execFile)
const sample = readFileSync(join(root, 'deploy', 'nginx.conf'), 'utf8')

async function isInstalledCommand(command: string, ...args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

test('the sample is well formed and has the required directives', () => {
  const directives = sample.replaceAll(/#.*$/gm, '')
  assert.equal(directives.split('{').length, directives.split('}').length)
  for (const line of directives.split('\n').map((text) => text.trim())) assert.match(line, /^$|[;{}]$/, line)
  for (const required of [
    'underscores_in_headers on;',
    'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    'proxy_set_header Host $host;',
    'proxy_next_upstream off;',
  ]) {
    assert.ok(directives.includes(required), required)
  }
  assert.doesNotMatch(/log_format.*/.exec(directives)![0], /\$request_uri|\$request"|\$args/)
})

interface Proxy extends AsyncDisposable {
  readonly url: string
  readonly plainPort: number
  readonly log: string
}

describe('nginx with the sample configuration', () => {
  let directory: string
  let isInstalled = false
  let certificate: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollgate-nginx-'))
    certificate = join(directory, 'fullchain.pem')
    isInstalled =
      (await isInstalledCommand('nginx', '-v')) && (await isInstalledCommand('openssl', 'version'))
    if (!isInstalled) return
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost'],
      ...['-keyout', join(directory, 'privkey.pem'), '-out', certificate],
    ])
  })
  after(() => rm(directory, { recursive: true, force: true }))

  function skipWithoutNginx(context: TestContext): boolean {
    if (!isInstalled) context.skip('nginx or openssl is not installed')
    return !isInstalled
  }

  /** Starts nginx with the sample, changed only in ports and paths, after `nginx -t`. */
  async function startNginx(backend: string, change = (text: string) => text): Promise<Proxy> {
    const [plainPort, port] = [await freePort(), await freePort()]
    const log = join(directory, `access-${port}.log`)
    const config = change(sample)
      .replaceAll(/^ *listen \[::\].*\n/gm, '')
      .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
      .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
      .replace('server 127.0.0.1:3000;', `server ${backend};`)
      .replaceAll('/etc/ssl/tollgate/', `${directory}/`)
      .replace('/var/log/nginx/tollgate.log', log)
    const file = join(directory, `nginx-${port}.conf`)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${directory}/${name};`,
    )
    await writeFile(
      file,
      `pid ${directory}/nginx-${port}.pid;\nerror_log stderr;\ndaemon off;\nmaster_process off;\n` +
        `events {}\nhttp {\n${paths.join('\n')}\n${config}\n}\n`,
    )
    await run('nginx', ['-t', '-p', directory, '-c', file])
    const child = spawn('nginx', ['-p', directory, '-c', file], { stdio: 'ignore' })
    const url = `https://localhost:${port}`
    for (let attempts = 0; ; attempts += 1) {
      const isUp = await send(`${url}/no-such-page`).then(
        () => true,
        () => false,
      )
      if (isUp) break
      assert.ok(attempts < 100 && child.exitCode === null, 'nginx did not start')
      await sleep(50)
    }
    return {
      url,
      plainPort,
      log,
      async [Symbol.asyncDispose]() {
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      },
    }
  }

  /** Sends a request from a loopback address and verifies the certificate. */
  function send(
    url: string,
    headers: Record<string, string> = {},
    from = '127.0.0.1',
  ): Promise<{ status: number; text: string }> {
    const ca = readFileSync(certificate)
    return new Promise((resolve, reject) => {
      const sent = request(url, { headers, ca, family: 4, localAddress: from, agent: false }, (response) => {
        let text = ''
        response.on('data', (part: Buffer) => (text += part.toString()))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sent.on('error', reject)
      sent.end()
    })
  }

  const hostOf = (url: string) => new URL(url).host

  test('forwards calls, keeps header names with underscores, logs no key, and hides the metrics', async (context) => {
    if (skipWithoutNginx(context)) return
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
    await using nginx = await startNginx(hostOf(service.url))
    const { username, key } = await service.account({ sms: 5 })
    const path = `/api/sms_api.php?action=get_credits&username=${username}`
    const response = await send(`${nginx.url}${path}`, { api_key: key })
    assert.equal(JSON.parse(response.text).data.remaining, 5, response.text)
    assert.equal((await send(`${nginx.url}${path}&api_key=${key}`)).status, 200)
    assert.equal((await send(`${nginx.url}/metrics`)).status, 404)
    assert.equal((await send(`${nginx.url}/readyz`)).status, 404)
    assert.equal((await send(`${nginx.url}/docs/`)).status, 200)
    const plain = await fetch(`http://127.0.0.1:${nginx.plainPort}/docs/?a=1`, { redirect: 'manual' })
    assert.deepEqual([plain.status, plain.headers.get('location')], [308, 'https://127.0.0.1/docs/?a=1'])
    const accessLog = await readFile(nginx.log, 'utf8')
    assert.match(accessLog, /"GET \/api\/sms_api\.php" 200/)
    assert.ok(!accessLog.includes(key) && !accessLog.includes(username))
  })

  test('forwards the address of the caller and ignores forged headers', async (context) => {
    if (skipWithoutNginx(context)) return
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
    await using nginx = await startNginx(hostOf(service.url))
    const guess = async (from: string, claimed: string) => {
      const headers = { username: 'somebody', api_key: 'tg_wrong', 'x-forwarded-for': claimed }
      return (await send(`${nginx.url}/api/sms_api.php?action=get_credits`, headers, from)).status
    }
    let last = 401
    for (let count = 0; last === 401 && count < 200; count += 1) {
      last = await guess('127.0.0.2', `192.0.2.${count % 250}`)
    }
    assert.equal(last, 429, 'the limit of one address is reached')
    assert.equal(await guess('127.0.0.3', '192.0.2.1'), 401, 'another address is not limited')
  })

  test('does not retry a call after an interrupted response', async (context) => {
    if (skipWithoutNginx(context)) return
    const received: string[] = []
    const backend = createServer((incoming, response) => {
      received.push(`${incoming.method} ${incoming.url}`)
      // By default nginx would retry on a kept-alive connection.
      if (incoming.url?.endsWith('break')) incoming.socket.destroy()
      else response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(backend, 'listening')
    const { port } = backend.address() as AddressInfo
    await using nginx = await startNginx(`127.0.0.1:${port}`)
    received.length = 0
    await send(`${nginx.url}/api/x`)
    assert.equal((await send(`${nginx.url}/api/break`)).status, 502)
    assert.deepEqual(received, ['GET /api/x', 'GET /api/break'])
    backend.closeAllConnections()
    backend.close()
  })

  test('npm run doctor passes, and reports missing directives', async (context) => {
    if (skipWithoutNginx(context)) return
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
    const states = async (change?: (text: string) => string) => {
      await using nginx = await startNginx(hostOf(service.url), change)
      const { stdout } = await runNode(['start.js', 'cli/doctor.ts', '--json'], {
        ...service.storage.environment,
        PUBLIC_URL: nginx.url,
        TRUSTED_PROXIES: '127.0.0.1',
        NODE_EXTRA_CA_CERTS: certificate,
      })
      const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] }
      return Object.fromEntries(
        checks
          .filter(({ check }) => ['address', 'service', 'proxy', 'headers'].includes(check))
          .map(({ check, state }) => [check, state]),
      )
    }
    const healthy = { address: 'ok', service: 'ok', proxy: 'ok', headers: 'ok' }
    assert.deepEqual(await states(), healthy)
    assert.deepEqual(await states((text) => text.replace('underscores_in_headers on;', '')), {
      ...healthy,
      headers: 'fail',
    })
    assert.deepEqual(await states((text) => text.replace(/proxy_set_header X-Forwarded-For.*/, '')), {
      ...healthy,
      proxy: 'fail',
    })
  })
})
