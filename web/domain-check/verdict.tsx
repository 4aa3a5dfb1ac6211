// A verdict in icon, word and colour. The Chinese words are part of the interface.
import type { ReactNode } from 'react'
import type { DomainVerdict } from '../../contract/console/domain-check.ts'
import { useText } from '../frame/i18n.ts'
import { StatusLabel, type Tone } from '../parts/format.tsx'
import { domainText } from './text.ts'

type Word = 'ok' | 'blocked' | 'invalid' | 'error'

const looks: Readonly<Record<DomainVerdict, { tone: Tone; word: Word; strip: string }>> = {
  未拦截: { tone: 'success', word: 'ok', strip: 'ok' },
  已拦截: { tone: 'error', word: 'blocked', strip: 'blocked' },
  无效URL: { tone: 'muted', word: 'invalid', strip: '' },
  请求失败: { tone: 'warning', word: 'error', strip: 'failed' },
}

export function Verdict({ verdict }: { verdict: DomainVerdict | null }): ReactNode {
  const t = useText(domainText)
  if (verdict === null) return <StatusLabel tone="pending">{t.asking}</StatusLabel>
  const { tone, word } = looks[verdict]
  return <StatusLabel tone={tone}>{t[word]}</StatusLabel>
}

export function verdictWord(verdict: DomainVerdict): Word {
  return looks[verdict].word
}

export function stripClass(verdict: DomainVerdict): string {
  return looks[verdict].strip
}
