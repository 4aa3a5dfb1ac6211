// Every form of DATABASE_URL.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PostgresUrlProblem, readPostgresUrl } from './postgres-url.ts'

const read = (url: string) => {
  const { host, port, user, password, database } = readPostgresUrl(url)
  return { host, port, user, password, database }
}

describe('DATABASE_URL', () => {
  it('names host, port, user, password and database', () => {
    assert.deepEqual(read('postgres://u:p%40ss@db.internal:5433/tollgate'), {
      host: 'db.internal',
      port: 5433,
      user: 'u',
      password: 'p@ss',
      database: 'tollgate',
    })
    assert.deepEqual(read('postgresql://[::1]:5432/d').host, '::1')
    assert.deepEqual(read('postgres://u:a:b@h/d').password, 'a:b')
    assert.deepEqual(read('postgres://u:a@b@h/d').password, 'a@b')
    assert.deepEqual(read('postgres://u@h').database, undefined)
  })

  it('accepts every form of a socket', () => {
    const socket = { host: '/var/run/postgresql', port: undefined, password: undefined, database: 'db' }
    for (const [url, user] of [
      ['postgres:///db?host=/var/run/postgresql', undefined],
      ['postgres://u@/db?host=/var/run/postgresql', 'u'],
      ['postgres://u@%2Fvar%2Frun%2Fpostgresql/db', 'u'],
      ['postgres://u@localhost/db?host=/var/run/postgresql', 'u'],
      ['postgresql://?host=/var/run/postgresql&dbname=db&user=u', 'u'],
    ] as const) {
      assert.deepEqual(read(url), { ...socket, user }, url)
    }
    assert.equal(read('postgres://u@%2Fvar%2Frun%2Fpostgresql:5433/db').port, 5433)
  })

  it('gives sslmode the meaning of libpq', () => {
    const tls = (query: string) => {
      const { ssl, isTlsOptional } = readPostgresUrl(`postgres://u@h/d${query}`)
      if (ssl === false) return 'off'
      const verifies = ssl.rejectUnauthorized === true
      const checksName = verifies && ssl.checkServerIdentity === undefined
      return [isTlsOptional && 'optional', verifies && 'verified', checksName && 'name', ssl.ca && 'own root']
        .filter(Boolean)
        .join(' ')
    }
    const root = `&sslrootcert=${encodeURIComponent(import.meta.filename)}`
    assert.equal(tls(''), 'off')
    assert.equal(tls('?sslmode=disable'), 'off')
    assert.equal(tls('?sslmode=prefer'), 'optional')
    assert.equal(tls('?sslmode=require'), '')
    assert.equal(tls(`?sslmode=require${root}`), 'verified own root')
    assert.equal(tls(`?sslmode=verify-ca${root}`), 'verified own root')
    assert.equal(tls('?sslmode=verify-full'), 'verified name')
    assert.equal(tls('?sslmode=verify-full&sslrootcert=system'), 'verified name')
    assert.equal(tls(`?sslmode=verify-full${root}`), 'verified name own root')
    assert.equal(readPostgresUrl('postgres://u@%2Fsocket/d?sslmode=require').ssl, false)
  })

  it('rejects what it cannot do, without showing the password', () => {
    for (const [url, reason] of [
      ['mysql://x', /must look like/],
      ['postgres://u:hidden@h/d?sslmode=allow', /sslmode must be one of/],
      ['postgres://u:hidden@h/d?sslmode=no-verify', /sslmode must be one of/],
      ['postgres://u:hidden@h/d?sslmode=verify-ca', /needs sslrootcert/],
      ['postgres://u:hidden@h/d?sslmode=require&sslrootcert=system', /verify-full/],
      ['postgres://u:hidden@h/d?sslmode=verify-full&sslrootcert=/no/such/file', /cannot be read/],
      ['postgres://u:hidden@h/d?pgbouncer=true', /unknown parameter pgbouncer/],
      ['postgres://u:hidden@a,b/d', /one host/],
      ['postgres://u:hidden@h:99999/d', /port/],
      ['postgres://u:hid%den@h/d', /percent-encoding/],
    ] as const) {
      assert.throws(
        () => readPostgresUrl(url),
        (error: unknown) => {
          assert.ok(error instanceof PostgresUrlProblem, url)
          assert.match(error.text.en, reason)
          assert.doesNotMatch(error.text.en + error.text.zh, /hid/)
          return true
        },
      )
    }
  })
})
