// Checks deploy/Caddyfile with Caddy, where it is installed: certificates on demand for known hosts only.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { request } from 'node:https'
import { root } from './support/root.ts'
import { startDnsServer } from './support/dns-server.ts'
import { admin, freePort, post, startService } from './support/service.ts'
import { until } from './support/until.ts'

const sample = await readFile(join(root, 'deploy/Caddyfile'), 'utf8')

test('the sample asks Tollgate and hides internal paths', () => {
  assert.match(sample, /ask http:\/\/127\.0\.0\.1:\{\$TOLLGATE_PORT:3000\}\/tls-ask/)
  assert.match(sample, /path \/metrics \/livez \/readyz \/tls-ask/)
})

test('Caddy gets certificates for known hosts only, forwards visits, and logs no key', async (context) => {
  if (spawnSync('caddy', ['version']).status !== 0) return context.skip('caddy is not installed')
  const [port, tlsPort, httpPort] = [await freePort(), await freePort(), await freePort()]
  await using dns = await startDnsServer()
  const settings = {
    PORT: String(port),
    PUBLIC_URL: 'https://go.example.com',
    TRUSTED_PROXIES: '127.0.0.1',
    DNS_SERVERS: dns.address,
  }
  const service = await startService('sqlite', settings)
  let isRunning = true
  const stopService = async () => {
    if (isRunning) await service[Symbol.asyncDispose]()
    isRunning = false
  }
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-caddy-'))
  // Caddy's own authority signs instead of Let's Encrypt, on ports that need no rights.
  const config = sample.replace(
    /^\{$/m,
    `{\n\tlocal_certs\n\tskip_install_trust\n\tadmin off\n\thttps_port ${tlsPort}\n\thttp_port ${httpPort}\n\tstorage file_system ${directory}`,
  )
  const file = join(directory, 'Caddyfile')
  await writeFile(file, config)
  const environment = { ...process.env, TOLLGATE_PORT: String(port), HOME: directory }
  execFileSync('caddy', ['validate', '--adapter', 'caddyfile', '--config', join(root, 'deploy/Caddyfile')], {
    env: environment,
    stdio: 'ignore',
  })
  const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let logged = ''
  for (const stream of [caddy.stdout, caddy.stderr]) {
    stream.on('data', (data: Buffer) => (logged += data.toString()))
  }
  try {
    /** The names and the issuer of the certificate; undefined without one. */
    const handshake = (servername: string) =>
      new Promise<{ names: string | undefined; issuer: string } | undefined>((resolve) => {
        const socket = connect({ port: tlsPort, host: '127.0.0.1', servername, rejectUnauthorized: false })
        socket.once('secureConnect', () => {
          const { subjectaltname, issuer } = socket.getPeerCertificate()
          resolve({ names: subjectaltname, issuer: String(issuer.CN) })
          socket.end()
        })
        socket.once('error', () => resolve(undefined))
        socket.once('close', () => socket.destroy())
      })
    await until(async () => (await handshake('go.example.com')) !== undefined)
    assert.equal(await handshake('unknown.example.com'), undefined)

    const account = await service.account({ short_link: 1 })
    const domain = async (...words: string[]) => {
      const result = await admin(
        { ...service.storage.environment, ...settings },
        'link-domain',
        ...words,
        '--json',
      )
      assert.equal(result.code, 0, result.stderr)
      return JSON.parse(result.stdout) as { txt_name: string; txt_value: string }
    }
    const own = 'brand.example.net'
    const record = await domain('add', account.username, own)
    assert.equal(await handshake(own), undefined, 'an own domain without proof')
    dns.records.set(record.txt_name, [record.txt_value])
    await domain('verify', own)
    const certificate = await handshake(own)
    assert.equal(certificate?.names, `DNS:${own}`)
    assert.match(certificate.issuer, /^Caddy Local Authority/)
    assert.equal(await handshake(`www.${own}`), undefined)

    const secret = 'tg_never-in-a-log'
    const ids = new Set<string>()
    const open = (path: string, host: string) =>
      new Promise<{ status: number | undefined; location: string | undefined }>((resolve, reject) => {
        const headers = { host, api_key: secret, name: secret, 'x-request-id': 'chosen-by-the-caller' }
        request(
          `https://127.0.0.1:${tlsPort}${path}`,
          { servername: host, headers, rejectUnauthorized: false },
          (response) => {
            response.resume()
            ids.add(String(response.headers['x-request-id']))
            resolve({ status: response.statusCode, location: response.headers.location })
          },
        )
          .on('error', reject)
          .end()
      })
    const get = async (path: string) => (await open(path, 'go.example.com')).status
    const link = await post(`http://127.0.0.1:${port}/api/shortlink_api.php`, {
      username: account.username,
      api_key: account.key,
      action: 'generate',
      title: 't',
      target_url: 'https://example.org/x',
      short_code: 'on-brand',
      domain: own,
    })
    assert.equal(link.body.data.a_url, `https://${own}/on-brand`)
    assert.deepEqual(await open('/on-brand', own), { status: 302, location: 'https://example.org/x' })
    assert.equal(await get('/report'), 200)
    assert.equal(ids.size, 2)
    for (const id of ids) assert.match(id, /^[\da-f]{8}-/)
    for (const hidden of ['/tls-ask?domain=go.example.com', '/metrics', '/readyz'])
      assert.equal(await get(hidden), 404)
    await stopService()
    for (const path of ['/api/sms_api.php', '/receipts/sms/aliyun/'])
      assert.equal(await get(`${path}${secret}?api_key=${secret}`), 502)
  } finally {
    caddy.kill('SIGTERM')
    await once(caddy, 'close')
    await stopService()
    await rm(directory, { recursive: true, force: true })
  }
  assert.match(logged, /serving initial configuration/)
  assert.doesNotMatch(logged, /never-in-a-log/)
})
