// SMS for operators: statistics over all accounts or one, and the templates that all accounts can use.
import { Tabs } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { OperatorStatistics } from '../sms/statistics.tsx'
import { SharedTemplates } from './shared-templates.tsx'
import { operatorSmsText } from './sms-text.ts'

export function OperatorSmsPage(): ReactNode {
  const t = useText(operatorSmsText)
  const [params, setParams] = useUrlState({ tab: 'statistics' })
  return (
    <Page title={t.title} lead={t.lead}>
      <Tabs
        activeKey={params.tab}
        onChange={(tab) => setParams({ tab })}
        destroyOnHidden
        items={[
          { key: 'statistics', label: t.statistics, children: <OperatorStatistics /> },
          { key: 'templates', label: t.templates, children: <SharedTemplates /> },
        ]}
      />
    </Page>
  )
}
