// SMS for operators: statistics over all accounts or one.
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { Page } from '../parts/page.tsx'
import { OperatorStatistics } from '../sms/statistics.tsx'
import { operatorSmsText } from './sms-text.ts'

export function OperatorSmsPage(): ReactNode {
  const t = useText(operatorSmsText)
  return (
    <Page title={t.title} lead={t.lead}>
      <OperatorStatistics />
    </Page>
  )
}
