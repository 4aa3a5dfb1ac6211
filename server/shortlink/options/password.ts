// Hashes the password of a link.
import { hashPassword } from '../../accounts/password.ts'
import { knownShare } from '../../accounts/password-turns.ts'

/** `hashes` keeps those of one call: a batch often has one password for all its links. */
export async function hashLinkPassword(
  password: string | null | undefined,
  accountId: number,
  hashes?: Map<string, string>,
): Promise<string | null> {
  if (password === undefined || password === null) return null
  const known = hashes?.get(password)
  if (known !== undefined) return known
  const hash = await hashPassword(password, knownShare(`links of ${accountId}`))
  hashes?.set(password, hash)
  return hash
}
