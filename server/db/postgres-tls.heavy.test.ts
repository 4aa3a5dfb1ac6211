// Every `sslmode` against a PostgreSQL server with TLS, and one without.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { serverUser, startPostgres } from '../../test/support/postgres.ts'
import { openPostgres } from './postgres.ts'

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

/** An authority, and a certificate of it for `localhost`, not for `127.0.0.1`. */
function createCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  for (const name of ['root', 'other']) {
    openssl('req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`)
  }
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost')
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost')
  const sign = ['-CA', 'root.crt', '-CAkey', 'root.key', '-CAcreateserial', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'server.csr', ...sign, '-out', 'server.crt')
}

it('sslmode decides what is encrypted and verified', { timeout: 60_000 }, async (context) => {
  if (!hasOpenssl()) return context.skip('openssl is not installed')
  const folder = mkdtempSync('/tmp/tollgate-tls-')
  chmodSync(folder, 0o755)
  createCertificates(folder)
  const { uid, gid } = serverUser()
  chmodSync(join(folder, 'server.key'), 0o600)
  if (uid !== undefined) chownSync(join(folder, 'server.key'), uid, gid ?? uid)
  const files = { ssl_cert_file: join(folder, 'server.crt'), ssl_key_file: join(folder, 'server.key') }
  const secure = await startPostgres({ settings: { ssl: 'on', ...files } })
  const plain = await startPostgres()

  /** Whether the connection is encrypted, or the reason why there is none. */
  async function connect(server: { port: number }, query: string, host = '127.0.0.1'): Promise<string> {
    const db = openPostgres(`postgres://postgres@${host}:${server.port}/postgres${query}`)
    try {
      const row = await db.one<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
      return row?.ssl ? 'encrypted' : 'plain'
    } catch (error) {
      return error instanceof Error ? error.message : ''
    } finally {
      await db.close()
    }
  }

  const root = `&sslrootcert=${join(folder, 'root.crt')}`
  const other = `&sslrootcert=${join(folder, 'other.crt')}`
  try {
    assert.equal(await connect(secure, ''), 'plain')
    assert.equal(await connect(secure, '?sslmode=disable'), 'plain')
    assert.equal(await connect(secure, '?sslmode=prefer'), 'encrypted')
    assert.equal(await connect(plain, '?sslmode=prefer'), 'plain')
    assert.equal(await connect(secure, '?sslmode=require'), 'encrypted')
    assert.match(await connect(plain, '?sslmode=require'), /SSL|TLS/)
    assert.equal(await connect(secure, `?sslmode=require${root}`), 'encrypted')
    assert.doesNotMatch(await connect(secure, `?sslmode=require${other}`), /^(encrypted|plain)$/)
    assert.equal(await connect(secure, `?sslmode=verify-ca${root}`), 'encrypted')
    assert.doesNotMatch(await connect(secure, `?sslmode=verify-ca${other}`), /^(encrypted|plain)$/)
    assert.equal(await connect(secure, `?sslmode=verify-full${root}`, 'localhost'), 'encrypted')
    assert.doesNotMatch(await connect(secure, `?sslmode=verify-full${root}`), /^(encrypted|plain)$/)
    assert.doesNotMatch(await connect(secure, '?sslmode=verify-full', 'localhost'), /^(encrypted|plain)$/)
  } finally {
    await secure.stop()
    await plain.stop()
    rmSync(folder, { recursive: true })
  }
})
