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
import { freePort, startService } from './support/service.ts'
import { until } from './support/until.ts'

const sample = await readFile(join(root, 'deploy/Caddyfile'), 'utf8')

test('the sample asks Tollgate and hides internal paths', () => {
  assert.match(sample, /ask http:\/\/127\.0\.0\.1:\{\$TOLLGATE_PORT:3000\}\/tls-ask/)
  assert.match(sample, /path \/metrics \/livez \/readyz \/tls-ask/)
})

test('Caddy gets certificates for known hosts only, forwards visits, and logs no key', async (context) => {
  if (spawnSync('caddy', ['version']).status !== 0) return context.skip('caddy is not installed')
  const [port, tlsPort, httpPort] = [await freePort(), await freePort(), await freePort()]
  const service = await startService('sqlite', {
    PORT: String(port),
    PUBLIC_URL: 'https://go.example.com',
    TRUSTED_PROXIES: '127.0.0.1',
  })
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
    const handshake = (servername: string) =>
      new Promise<boolean>((resolve) => {
        const socket = connect({ port: tlsPort, host: '127.0.0.1', servername, rejectUnauthorized: false })
        socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false))
        socket.once('close', () => socket.destroy())
        setTimeout(() => socket.end(), 5_000).unref()
      })
    await until(() => handshake('go.example.com'))
    assert.equal(await handshake('unknown.example.com'), false)
    const secret = 'tg_never-in-a-log'
    const get = (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(
          `https://127.0.0.1:${tlsPort}${path}`,
          {
            servername: 'go.example.com',
            headers: { host: 'go.example.com', api_key: secret, name: secret },
            rejectUnauthorized: false,
          },
          (response) => {
            response.resume()
            resolve(response.statusCode)
          },
        )
          .on('error', reject)
          .end()
      })
    assert.equal(await get('/report'), 200)
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
