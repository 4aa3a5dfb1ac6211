// The reference is at /docs/, outside the console: an old link leads there.
import { useEffect, type ReactNode } from 'react'

export function DocsPage(): ReactNode {
  useEffect(() => window.location.replace('/docs/'), [])
  return <a href="/docs/">/docs/</a>
}
