// Replaces a provider of antd that only `tooltip={{ unique: true }}` uses (see vite.config.ts).
import type { ReactNode } from 'react'

// oxlint-disable-next-line import/no-default-export -- antd imports the default
export default function NoUniqueTooltips({ children }: { children?: ReactNode }): ReactNode {
  return children
}
