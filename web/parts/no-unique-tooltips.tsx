// Replaces a provider of antd that only `tooltip={{ unique: true }}` uses (see vite.config.ts).
import type { ReactNode } from 'react'

export default function NoUniqueTooltips({ children }: { children?: ReactNode }): ReactNode {
  return children
}
