// A real OpenID provider on loopback, and a browser that signs in there.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TestProvider {
  readonly issuer: string
  /** The settings of a service that uses this provider. */
  readonly environment: Readonly<Record<string, string>>
  /** Follows the redirects from the provider's address, signs in as the subject, and returns the address of our callback. */
  signIn(url: string, subject: string): Promise<string>
  close(): Promise<void>
}

/** The package has no types. */
interface ProviderClass {
  new (issuer: string, configuration: object): { callback(): RequestListener }
}

const clientId = 'tollgate'
const clientSecret = 'a-client-secret-of-the-tests-41'

/** `serviceUrl` is where the service will listen: the provider knows its redirect URI. */
export async function startProvider(serviceUrl: string, port = 0): Promise<TestProvider> {
  const name: string = 'oidc-provider'
  const { Provider } = (await import(name)) as { Provider: ProviderClass }
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${serviceUrl}/console/api/oidc/callback`],
      },
    ],
    cookies: { keys: ['a key for the tests'] },
    scopes: ['openid', 'profile', 'email'],
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: 'shared@example.com', email_verified: true, name: id }),
    }),
  })
  server.on('request', provider.callback())

  return {
    issuer,
    environment: providerSettings(issuer),
    async signIn(url, subject) {
      const cookies = new Map<string, string>()
      let next = url
      let form: string | undefined
      for (let hops = 0; hops < 20; hops++) {
        const response = await fetch(next, {
          redirect: 'manual',
          method: form === undefined ? 'GET' : 'POST',
          headers: {
            cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
            ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
          },
          body: form ?? null,
        })
        for (const set of response.headers.getSetCookie()) {
          const [key, ...value] = set.split(';')[0]!.split('=')
          cookies.set(key!, value.join('='))
        }
        const location = response.headers.get('location')
        form = undefined
        if (location !== null) {
          next = new URL(location, next).href
          if (next.startsWith(serviceUrl)) return next
          continue
        }
        const html = await response.text()
        const action = /action="([^"]+)"/.exec(html)?.[1]
        if (action === undefined) throw new Error(`the provider answered ${response.status}: ${html}`)
        const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1]
        form = prompt === 'login' ? `prompt=login&login=${subject}&password=x` : `prompt=${prompt}`
        next = new URL(action, next).href
      }
      throw new Error('too many redirects')
    },
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

export function providerSettings(issuer: string): Readonly<Record<string, string>> {
  return { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret }
}
