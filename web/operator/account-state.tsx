// Whether an account may call, in icon, word and colour.
import type { ReactNode } from 'react'
import type { AccountFacts } from '../../contract/console/responses/session.ts'
import { useText } from '../frame/i18n.ts'
import { StatusLabel } from '../parts/format.tsx'
import { operatorText } from './text.ts'

export function AccountState({ account }: { account: AccountFacts }): ReactNode {
  const t = useText(operatorText)
  if (account.suspended) return <StatusLabel tone="error">{t.suspended}</StatusLabel>
  if (account.expired) return <StatusLabel tone="warning">{t.expired}</StatusLabel>
  return <StatusLabel tone="success">{t.active}</StatusLabel>
}
