// SMS: templates, sending one by hand, records.
import { Link } from '@tanstack/react-router'
import { Tabs } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/text.ts'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { Records } from './records.tsx'
import { SendOne } from './send.tsx'
import { Templates } from './templates.tsx'
import { smsText } from './text.ts'

export function SmsPage(): ReactNode {
  const words = useText(smsText)
  const [shown, show] = useUrlState({ tab: 'templates' })
  return (
    <Page title={words.title} lead={words.lead} actions={<Link to="/account">{words.signature}</Link>}>
      <Tabs
        activeKey={shown.tab}
        onChange={(tab) => show({ tab })}
        destroyOnHidden
        items={[
          { key: 'templates', label: words.templates, children: <Templates /> },
          { key: 'send', label: words.send, children: <SendOne /> },
          { key: 'records', label: words.records, children: <Records /> },
        ]}
      />
    </Page>
  )
}
