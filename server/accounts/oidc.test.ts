// ID tokens that are forged, foreign, replayed or too old are refused.
import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { createOidc, OidcRefused } from './oidc.ts'

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function signToken(claims: object, key: KeyObject | undefined): string {
  const head = key === undefined ? { alg: 'none' } : { alg: 'RS256', kid: 'one' }
  const text = `${base64(head)}.${base64(claims)}`
  return `${text}.${key === undefined ? '' : sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

/** A provider that answers every code with the token of `tokenFor`. */
async function startProvider(publicKey: KeyObject, tokenFor: (nonce: string) => string) {
  let nonce = ''
  const server = createServer((request, response) => {
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      },
      '/keys': { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] },
      '/token': { access_token: 'a', token_type: 'Bearer', id_token: tokenFor(nonce) },
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(documents[request.url!] ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const oidc = createOidc({
    issuer,
    clientId: 'tollgate',
    clientSecret: 'a secret',
    redirectUri: () => 'http://127.0.0.1:9/callback',
  })
  return {
    issuer,
    async finish(isFresh: boolean) {
      const { request } = await oidc.begin(isFresh)
      nonce = request.nonce
      return oidc.finish(`code=x&state=${request.state}`, request)
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

it('82 refuses ID tokens with a wrong signature, issuer, audience, nonce or time', async () => {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
  let create: (claims: Record<string, unknown>) => string = () => ''
  let issuer = ''
  await using provider = await startProvider(own.publicKey, (nonce) => {
    const seconds = Math.floor(Date.now() / 1000)
    const times = { iat: seconds, exp: seconds + 60, auth_time: seconds }
    return create({ iss: issuer, aud: 'tollgate', sub: 'subject-1', nonce, ...times })
  })
  issuer = provider.issuer
  const past = Math.floor(Date.now() / 1000) - 3_600
  const right = (claims: object) => signToken(claims, own.privateKey)

  create = right
  assert.equal((await provider.finish(true)).subject, 'subject-1')

  const wrong: Readonly<Record<string, typeof create>> = {
    'the key of a stranger': (claims) => signToken(claims, stranger.privateKey),
    'no signature': (claims) => signToken(claims, undefined),
    'a changed subject': (claims) => {
      const [head, , signature] = right(claims).split('.')
      return `${head}.${base64({ ...claims, sub: 'subject-2' })}.${signature}`
    },
    'another issuer': (claims) => right({ ...claims, iss: 'https://other.example' }),
    'another audience': (claims) => right({ ...claims, aud: 'another client' }),
    'the nonce of another sign-in': (claims) => right({ ...claims, nonce: 'x'.repeat(43) }),
    'no nonce': ({ nonce: _nonce, ...claims }) => right(claims),
    'an expired token': (claims) => right({ ...claims, iat: past, exp: past + 60 }),
    'a sign-in an hour ago where a fresh one is needed': (claims) => right({ ...claims, auth_time: past }),
    'no token': () => '',
  }
  for (const [name, token] of Object.entries(wrong)) {
    create = token
    await assert.rejects(provider.finish(true), OidcRefused, name)
  }
})
