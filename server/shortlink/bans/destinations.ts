// Whether a ban of a host concerns a link.
import type { Tables } from '../../db/schema.ts'
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
