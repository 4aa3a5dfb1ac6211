// A verdict as icon, text and colour.
import type { ReactNode } from 'react'
import type { CheckResult } from '../../contract/domain-check.ts'
import { useText } from '../frame/i18n.ts'
import { StatusLabel, type Tone } from '../parts/format.tsx'
import { domainText } from './text.ts'

const styles: Readonly<Record<CheckResult, { tone: Tone; strip: string }>> = {
  未拦截: { tone: 'success', strip: 'ok' },
  已拦截: { tone: 'error', strip: 'blocked' },
  无效URL: { tone: 'muted', strip: '' },
  请求失败: { tone: 'warning', strip: 'failed' },
}

export function Verdict({ verdict }: { verdict: CheckResult | null }): ReactNode {
  const t = useText(domainText)
  if (verdict === null) return <StatusLabel tone="pending">{t.checking}</StatusLabel>
  return <StatusLabel tone={styles[verdict].tone}>{t[verdict]}</StatusLabel>
}

export function stripClass(verdict: CheckResult): string {
  return styles[verdict].strip
}
