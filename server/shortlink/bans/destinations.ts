// Whether a ban of a host concerns a link, or the targets of a new one.
import { bannedTarget } from '../../../contract/link-abuse.ts'
import type { Tables } from '../../db/schema.ts'
import { AppError } from '../../http/errors.ts'
import { readRules } from '../options/record.ts'
import { type BannedHosts, isBannedUrl } from './banned-hosts.ts'

/** Of both addresses, after expiry, and by any rule. */
export function leadsToBanned(
  link: Pick<Tables['link'], 'location_a' | 'location_b' | 'expired_location' | 'rules'>,
  hosts: BannedHosts,
): boolean {
  if (hosts.size === 0) return false
  return [
    link.location_a,
    link.location_b,
    link.expired_location,
    ...readRules(link.rules).map(({ location }) => location),
  ].some((location) => isBannedUrl(location, hosts))
}

/** Throws when one of the addresses is on a banned host. */
export function requireAllowedTargets(urls: readonly (string | undefined)[], hosts: BannedHosts): void {
  if (hosts.size > 0 && urls.some((url) => url !== undefined && isBannedUrl(url, hosts)))
    throw new AppError(1002, bannedTarget, { status: 400 })
}
