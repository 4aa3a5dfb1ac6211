// Single sign-on at the OpenID provider. The browser goes to the returned `url` and comes back to the console.
import { Type } from 'typebox'
import { route, withResponses } from './route.ts'
import { Empty } from './fields.ts'
import type { oidcResponses } from './responses/oidc.ts'

/** The page of the console to go to afterwards, such as `/credits`. */
const Next = Type.Object({ next: Type.Optional(Type.String({ maxLength: 500 })) })

export const oidcRoutes = withResponses<typeof oidcResponses>()({
  signIn: route('POST', '/oidc/sign-in', Next),
  /** Confirms who the user is, like `confirm` of the security routes. */
  confirm: route('POST', '/oidc/confirm', Next),
  links: route('GET', '/oidc/links', Empty),
  /** Links the account to a user of the provider. Needs a confirmation. */
  link: route('POST', '/oidc/link', Empty),
  /** Needs a confirmation. Ends the sessions that began at the provider. */
  unlink: route(
    'POST',
    '/oidc/unlink',
    Type.Object({ subject: Type.String({ minLength: 1, maxLength: 255 }) }),
  ),
})
