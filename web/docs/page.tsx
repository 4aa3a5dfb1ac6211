// The reference is at /docs/, outside the console: an old link leads there.
import { useEffect, type ReactNode } from 'react'
import { docsAddress } from '../../contract/docs-address.ts'
import { useLanguage } from '../frame/i18n.ts'

export function DocsPage(): ReactNode {
  const address = docsAddress(useLanguage())
  useEffect(() => window.location.replace(address), [address])
  return <a href={address}>{address}</a>
}
