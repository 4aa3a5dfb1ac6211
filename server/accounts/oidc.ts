// Signing in at an OpenID provider: code flow with PKCE, state and nonce.
import type { Configuration } from 'openid-client'
import { issuerOf, type OidcSubject } from './oidc-links.ts'

/** What the browser brings back, and we compare. */
export interface OidcRequest {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The user must have signed in at the provider within the last minutes. */
  readonly isFresh: boolean
}

export interface Oidc {
  /** The address of the provider to which the browser goes. Throws `OidcUnavailable`. */
  begin(isFresh: boolean): Promise<{ readonly url: string; readonly request: OidcRequest }>
  /** Throws when the response is not the one to the request, or the provider rejects it. */
  finish(query: string, request: OidcRequest): Promise<OidcSubject>
}

export interface OidcOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: () => string
}

/** The provider cannot be reached, or is not an OpenID provider. */
export class OidcUnavailable extends Error {}

/** The user or the provider refused. */
export class OidcRefused extends Error {}

const timeoutSeconds = 10
const freshSeconds = 300
const maxNameLength = 100

export function createOidc(options: OidcOptions): Oidc {
  // Only services with an OpenID provider load it, and at the start: its files may be replaced while the service runs.
  const library = import('openid-client')
  library.catch(() => undefined)
  let discovered: Promise<Configuration> | undefined

  async function discover(): Promise<Configuration> {
    const client = await library
    const issuer = new URL(options.issuer)
    return client.discovery(issuer, options.clientId, options.clientSecret, undefined, {
      timeout: timeoutSeconds,
      execute: [
        // In the code flow the library would take the signature of the ID token on trust.
        client.enableNonRepudiationChecks,
        ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    })
  }

  /** A failure is not cached: the next sign-in contacts the provider again. */
  function configuration(): Promise<Configuration> {
    discovered ??= discover().catch((error: unknown) => {
      discovered = undefined
      throw new OidcUnavailable('discovery failed', { cause: error })
    })
    return discovered
  }

  return {
    async begin(isFresh) {
      const config = await configuration()
      const client = await library
      const verifier = client.randomPKCECodeVerifier()
      const request = { state: client.randomState(), nonce: client.randomNonce(), verifier, isFresh }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: options.redirectUri(),
        scope: 'openid profile email',
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: request.state,
        nonce: request.nonce,
        ...(isFresh && { prompt: 'login', max_age: '0' }),
      })
      return { url: url.href, request }
    },

    async finish(query, { state, nonce, verifier, isFresh }) {
      const config = await configuration()
      const client = await library
      // From the configured address, never from the headers of the request.
      const current = new URL(`${options.redirectUri()}?${query}`)
      const tokens = await client
        .authorizationCodeGrant(config, current, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
          ...(isFresh && { maxAge: freshSeconds }),
        })
        .catch((error: unknown) => {
          throw new OidcRefused('the provider or its response was refused', { cause: error })
        })
      const claims = tokens.claims()
      if (!claims) throw new OidcRefused('no ID token')
      const names = [claims['email'], claims['preferred_username'], claims['name']]
      const name = names.find((one): one is string => typeof one === 'string' && one !== '') ?? claims.sub
      return { issuer: issuerOf(claims.iss), subject: claims.sub, name: name.slice(0, maxNameLength) }
    },
  }
}
