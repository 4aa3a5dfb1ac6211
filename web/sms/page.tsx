// The SMS page: templates, sending a message or to a group, records, signatures, replies and the stop list.
import { EllipsisOutlined } from '@ant-design/icons'
import { Tabs } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { lazyPage } from '../lazy-page.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { Groups } from './batch/page.tsx'
import { batchText } from './batch/text.ts'
import { Records } from './records.tsx'
import { Replies } from './replies.tsx'
import { Send } from './send.tsx'
import { Signatures } from './signatures.tsx'
import { signaturesText } from './signatures-text.ts'
import { statisticsText } from './statistics-text.ts'
import { Stops } from './stops.tsx'
import { Templates } from './templates.tsx'
import { smsText } from './text.ts'

/** Charts are large and only this tab needs them. */
const Statistics = lazyPage(() => import('./statistics.tsx'), 'Statistics')

export function SmsPage(): ReactNode {
  const t = useText(smsText)
  const more = useText(signaturesText)
  const common = useText(partsText)
  const batch = useText(batchText)
  const { statistics } = useText(statisticsText)
  const [params, setParams] = useUrlState({ tab: 'templates' })
  return (
    <Page title={t.title} lead={t.lead}>
      <Tabs
        activeKey={params.tab}
        onChange={(tab) => setParams({ tab })}
        more={{ icon: <EllipsisOutlined aria-label={common.moreTabs} /> }}
        destroyOnHidden
        items={[
          { key: 'templates', label: t.templates, children: <Templates /> },
          { key: 'send', label: t.send, children: <Send /> },
          { key: 'groups', label: batch.groups, children: <Groups /> },
          { key: 'records', label: t.records, children: <Records /> },
          { key: 'statistics', label: statistics, children: <Statistics /> },
          { key: 'signatures', label: more.signatures, children: <Signatures /> },
          { key: 'replies', label: more.replies, children: <Replies /> },
          { key: 'stops', label: more.stops, children: <Stops /> },
        ]}
      />
    </Page>
  )
}
