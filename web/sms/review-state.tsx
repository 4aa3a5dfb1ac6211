// The three states of a review. Their Chinese names are part of the API; the console translates them.
import type { ReactNode } from 'react'
import type { TemplateState } from '../../contract/sms-text.ts'
import type { Text } from '../../contract/text.ts'
import { usePick } from '../frame/i18n.ts'
import { StatusLabel, type Tone } from '../parts/format.tsx'

const states: Readonly<Record<TemplateState, { tone: Tone; text: Text }>> = {
  审核中: { tone: 'pending', text: { zh: '审核中', en: 'In review' } },
  审核通过: { tone: 'success', text: { zh: '审核通过', en: 'Approved' } },
  审核不通过: { tone: 'error', text: { zh: '审核不通过', en: 'Rejected' } },
}

export function ReviewState({ state }: { state: TemplateState }): ReactNode {
  const { tone, text } = states[state]
  return <StatusLabel tone={tone}>{usePick()(text)}</StatusLabel>
}

export function reviewStateText(state: TemplateState): Text {
  return states[state].text
}
