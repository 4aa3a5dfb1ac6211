// Codes, IDs and domains of new links that the account cannot use.
import type { Queries } from '../../db/database.ts'
import { type InvalidParameter, parameterError } from '../../http/parameters.ts'
import type { AppError } from '../../http/errors.ts'
import { takenCode } from '../codes/chosen.ts'
import { findTakenCodes } from '../codes/chosen-store.ts'
import type { Codes } from '../codes/store.ts'
import { normalizeHost } from '../domains/domains.ts'
import { findVerifiedOwner } from '../own-domains/store.ts'
import type { OptionChange } from './read.ts'
import { findUsedExternalIds } from './store.ts'

interface LinkWithOptions {
  readonly options: OptionChange | undefined
}

export const codeTaken: InvalidParameter = { name: 'short_code', text: takenCode, isWhole: true }
export const externalIdUsed: InvalidParameter = {
  name: 'external_id',
  text: { zh: '已被使用', en: 'is already used' },
}
const notYourDomain: InvalidParameter = {
  name: 'domain',
  text: { zh: '不是您已验证的域名', en: 'is none of your verified domains' },
}

/** One list for each link; duplicates inside of the list are found too. */
export async function findConflicts(
  queries: Queries,
  accountId: number,
  links: readonly LinkWithOptions[],
  codes: Codes,
): Promise<readonly (readonly InvalidParameter[])[]> {
  const chosen = texts(links, ({ options }) => options?.shortCode)
  const externalIds = texts(links, ({ options }) => options?.externalId ?? undefined)
  const hosts = texts(links, ({ options }) => options?.domain)
  const taken = await findTakenCodes(queries, [...new Set(chosen)], codes)
  const used = await findUsedExternalIds(queries, accountId, [...new Set(externalIds)])
  const owned = await findOwned(queries, accountId, new Set(hosts))
  const seen = new Set<string>()
  const isRepeated = (key: string) => seen.has(key) || !seen.add(key)
  return links.map(({ options }) => {
    const problems: InvalidParameter[] = []
    const { shortCode, externalId, domain } = options ?? {}
    if (shortCode !== undefined && (isRepeated(`code ${shortCode}`) || taken.has(shortCode)))
      problems.push(codeTaken)
    if (typeof externalId === 'string' && (isRepeated(`id ${externalId}`) || used.has(externalId)))
      problems.push(externalIdUsed)
    if (domain !== undefined && !owned.has(domain)) problems.push(notYourDomain)
    return problems
  })
}

function texts(
  links: readonly LinkWithOptions[],
  of: (link: LinkWithOptions) => string | undefined,
): string[] {
  return links.flatMap((link) => of(link) ?? [])
}

async function findOwned(
  queries: Queries,
  accountId: number,
  domains: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const owned = new Set<string>()
  for (const domain of domains) {
    const host = normalizeHost(domain)
    if (host !== undefined && (await findVerifiedOwner(queries, host)) === accountId) owned.add(domain)
  }
  return owned
}

/** The error of one link, or of a list under `links[0].` and so on. */
export function conflictError(
  problems: readonly (readonly InvalidParameter[])[],
  isBatch: boolean,
): AppError {
  if (!isBatch) return parameterError([], problems[0]!)
  return parameterError(
    [],
    problems.flatMap((list, index) =>
      list.map(({ name, text }) => ({ name: `links[${index}].${name}`, text })),
    ),
  )
}

export function requireNoConflicts(
  problems: readonly (readonly InvalidParameter[])[],
  isBatch: boolean,
): void {
  if (problems.some((list) => list.length > 0)) throw conflictError(problems, isBatch)
}
