// Whether an account may call, in icon, word and colour.
import type { ReactNode } from 'react'
import type { AccountFacts } from '../../contract/console/session.ts'
import { useText } from '../frame/text.ts'
import { Outcome } from '../parts/figures.tsx'
import { operatorText } from './text.ts'

export function AccountState({ account }: { account: AccountFacts }): ReactNode {
  const words = useText(operatorText)
  if (account.suspended) return <Outcome tone="error">{words.suspended}</Outcome>
  if (account.expired) return <Outcome tone="warning">{words.expired}</Outcome>
  return <Outcome tone="success">{words.active}</Outcome>
}
