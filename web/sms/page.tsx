// The SMS page: templates, sending a message, and the records.
import { Link } from '@tanstack/react-router'
import { Tabs } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { Records } from './records.tsx'
import { Send } from './send.tsx'
import { Templates } from './templates.tsx'
import { smsText } from './text.ts'

export function SmsPage(): ReactNode {
  const t = useText(smsText)
  const [params, setParams] = useUrlState({ tab: 'templates' })
  return (
    <Page title={t.title} lead={t.lead} actions={<Link to="/account">{t.signatureSettings}</Link>}>
      <Tabs
        activeKey={params.tab}
        onChange={(tab) => setParams({ tab })}
        destroyOnHidden
        items={[
          { key: 'templates', label: t.templates, children: <Templates /> },
          { key: 'send', label: t.send, children: <Send /> },
          { key: 'records', label: t.records, children: <Records /> },
        ]}
      />
    </Page>
  )
}
