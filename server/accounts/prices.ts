// The price plan of an account: prices that differ from those of the installation.
import { maxPrice, type PriceName, priceNames, type Prices } from '../../contract/credits.ts'
import type { Text } from '../../contract/text.ts'
import { printable } from '../../contract/values.ts'
import type { Account } from './store.ts'

/** The prices that the account pays. `byDefault` is the setting PRICES. */
export function pricesOf({ prices }: Pick<Account, 'prices'>, byDefault: Prices): Prices {
  return prices === null ? byDefault : { ...byDefault, ...ownPrices(prices) }
}

/** Parses what is stored. */
export function ownPrices(stored: string): Partial<Prices> {
  const own: Partial<Record<PriceName, number>> = {}
  for (const item of stored.split(',')) {
    const [name, price] = item.split('=')
    own[name as PriceName] = Number(price)
  }
  return own
}

/** Returns what is stored. Null means the prices of the installation. */
export function readPrices(
  given: Readonly<Record<string, number>> | null,
): { readonly value: string | null } | { readonly problem: Text } {
  if (given === null) return { value: null }
  const entries = Object.entries(given)
  const isValid = ([name, price]: [string, number]) =>
    priceNames.includes(name as PriceName) && Number.isSafeInteger(price) && price >= 0 && price <= maxPrice
  const wrong = entries.filter((entry) => !isValid(entry)).map(([name]) => printable(name))
  if (entries.length > 0 && wrong.length === 0) {
    return { value: entries.map(([name, price]) => `${name}=${price}`).join(',') }
  }
  const names = priceNames.join(', ')
  const which = wrong.length === 0 ? '' : ` ${wrong.slice(0, 5).join(', ')}`
  return {
    problem: {
      zh: `价格${which} 无效：名称为 ${names}，数值为 0 至 ${maxPrice} 的整数`,
      en: `the price${which} is invalid: the names are ${names}, the values integers from 0 to ${maxPrice}`,
    },
  }
}
