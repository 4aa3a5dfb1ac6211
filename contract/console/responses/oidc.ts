// Responses about single sign-on.
import { Type } from 'typebox'
import type { ResponseOf } from '../route.ts'
import { Empty } from '../fields.ts'
import { moment } from './fields.ts'

const Redirect = Type.Object({ url: Type.String() })

export const OidcLinks = Type.Object({
  /** OIDC_ISSUER is set. */
  available: Type.Boolean(),
  items: Type.Array(
    Type.Object({
      subject: Type.String(),
      /** What the provider calls the user. */
      name: Type.String(),
      linked_at: moment,
    }),
  ),
})
export type OidcLinks = ResponseOf<typeof OidcLinks>

export const oidcResponses = {
  signIn: Redirect,
  confirm: Redirect,
  links: OidcLinks,
  link: Redirect,
  unlink: Empty,
}
