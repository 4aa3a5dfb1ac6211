// Session cookies that were not made here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../db/database.ts'
import { createSessions } from './sessions.ts'

test('163 invented and foreign cookies are recognized without the database', async () => {
  // Any use of the database fails.
  const sessions = createSessions({} as Database, {
    secret: 'a secret',
    isSecure: false,
    passwordLogin: true,
    operatorFactor: false,
    onNewPlace: () => assert.fail(),
    placeOf: () => '',
    touches: { touch: () => assert.fail() },
  })
  const set: string[] = []
  const reply = { setCookie: (name: string) => set.push(name) } as unknown as FastifyReply
  // The last one has the form of a token, with the tag of another installation.
  for (const cookie of ['', 'x', 'a'.repeat(43), `${'a'.repeat(32)}AbCdEfGhIjK`]) {
    const request = { cookies: { tg_session: cookie } } as unknown as FastifyRequest
    assert.equal(await sessions.find(request), undefined)
    await sessions.end(request, reply, undefined)
  }
  assert.deepEqual(new Set(set), new Set(['tg_session']))
})
