// The items of one check: every submitted address, then a random subdomain of each when asked for.
import type { CheckItem } from '../../contract/domain-check.ts'
import { makeLabel, readAddress, withLabel } from './address.ts'
import type { Address } from './port.ts'

export interface CheckItems {
  readonly items: readonly CheckItem[]
  /** One for each item; undefined for 无效URL. */
  readonly addresses: readonly (Address | undefined)[]
}

export function makeItems(urls: readonly string[], checkRandom: boolean): CheckItems {
  const originals = urls.map((url): CheckItem => ({ url, type: 'original' }))
  const addresses = urls.map(readAddress)
  if (!checkRandom) return { items: originals, addresses }
  const randoms = urls.map((url): CheckItem => ({ url: withLabel(url, makeLabel()), type: 'random' }))
  return {
    items: [...originals, ...randoms],
    // What was no address stays none, even where the label would make it one (`com`).
    addresses: [...addresses, ...randoms.map(({ url }, place) => addresses[place] && readAddress(url))],
  }
}
