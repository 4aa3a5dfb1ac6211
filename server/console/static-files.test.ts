// Static files of the console: headers, one page for every path, a message when it is not built.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fastify } from 'fastify'
import { consoleFiles } from './static-files.ts'

async function open(build: boolean, isSecure = false) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-web-'))
  if (build) {
    await mkdir(join(folder, 'assets'))
    await writeFile(
      join(folder, 'index.html'),
      '<!doctype html><title>console</title><script>boot()</script>',
    )
    await writeFile(join(folder, 'assets', 'main-abc.js'), 'export {}')
    await writeFile(join(folder, 'gate.svg'), '<svg/>')
  }
  const app = fastify()
  app.register(async (files) => consoleFiles(files, isSecure, folder))
  return {
    get: (url: string) => app.inject({ url }),
    inject: (options: { method: 'HEAD'; url: string }) => app.inject(options),
    async [Symbol.asyncDispose]() {
      await app.close()
      await rm(folder, { recursive: true })
    },
  }
}

void describe('static files', () => {
  it('serves the page of the app at every path', async () => {
    await using site = await open(true)
    for (const url of ['/console/', '/console/links', '/console/operator/accounts?page=2']) {
      const reply = await site.get(url)
      assert.equal(reply.statusCode, 200, url)
      assert.match(reply.body, /<title>console/)
      assert.equal(reply.headers['cache-control'], 'no-cache')
    }
    assert.equal((await site.get('/console')).headers.location, '/console/')
  })

  it('answers HEAD like GET', async () => {
    await using site = await open(true)
    for (const url of ['/console/', '/console/links', '/console/gate.svg']) {
      const reply = await site.inject({ method: 'HEAD', url })
      assert.equal(reply.statusCode, 200, url)
    }
  })

  it('allows the script inside the page by its hash and no other inline script', async () => {
    await using site = await open(true)
    const { headers } = await site.get('/console/')
    const hash = createHash('sha256').update('boot()').digest('base64')
    assert.match(String(headers['content-security-policy']), /script-src 'self' 'sha256-/)
    assert.ok(String(headers['content-security-policy']).includes(`'sha256-${hash}'`))
    assert.doesNotMatch(String(headers['content-security-policy']), /script-src[^;]*unsafe-inline/)
    const script = await site.get('/console/assets/main-abc.js')
    assert.match(String(script.headers['content-security-policy']), /script-src 'self';/)
  })

  it('serves only built files, and lets hashed ones be cached indefinitely', async () => {
    await using site = await open(true)
    const script = await site.get('/console/assets/main-abc.js')
    assert.equal(script.statusCode, 200)
    assert.match(String(script.headers['content-type']), /javascript/)
    assert.match(String(script.headers['cache-control']), /immutable/)
    assert.equal((await site.get('/console/gate.svg')).headers['cache-control'], 'no-cache')
    for (const url of [
      '/console/assets/other.js',
      '/console/..%2f..%2fpackage.json',
      '/console/%2e%2e/%2e%2e/package.json',
      '/console/assets/%00.js',
    ]) {
      const reply = await site.get(url)
      assert.ok(reply.statusCode >= 400, url)
      assert.ok(!reply.body.includes('tollgate"'), url)
    }
  })

  it('allows only its own scripts', async () => {
    await using site = await open(true, true)
    for (const url of ['/console/', '/console/assets/main-abc.js', '/console/nothing.js']) {
      const { headers } = await site.get(url)
      const policy = String(headers['content-security-policy'])
      assert.match(policy, /default-src 'none'; script-src 'self'[ ;]/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.ok(!/script-src[^;]*unsafe/.test(policy))
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['strict-transport-security'], 'max-age=31536000')
    }
    await using plain = await open(true)
    assert.equal((await plain.get('/console/')).headers['strict-transport-security'], undefined)
  })

  it('names the build command when the console is not built', async () => {
    await using site = await open(false)
    const reply = await site.get('/console/')
    assert.equal(reply.statusCode, 503)
    assert.match(reply.body, /npm run build:web/)
  })
})
