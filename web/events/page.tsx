// The events page: webhooks with their deliveries, and alert channels.
import { Tabs } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { AlertChannels } from './alert-channels.tsx'
import { OwnDeliveries } from './deliveries.tsx'
import { eventsText } from './text.ts'
import { VerifyCard } from './verify-card.tsx'
import { Webhooks } from './webhooks.tsx'

export function EventsPage(): ReactNode {
  const t = useText(eventsText)
  const [params, setParams] = useUrlState({ tab: 'webhooks', webhook: '' })
  return (
    <Page title={t.title} lead={t.lead}>
      <Tabs
        activeKey={params.tab}
        onChange={(tab) => setParams({ tab, webhook: '' })}
        destroyOnHidden
        items={[
          {
            key: 'webhooks',
            label: t.webhooks,
            children: (
              <div className="stack">
                <Webhooks onOpen={(id) => setParams({ webhook: String(id) })} />
                {params.webhook !== '' && <OwnDeliveries key={params.webhook} webhook={params.webhook} />}
                <VerifyCard />
              </div>
            ),
          },
          { key: 'alerts', label: t.alerts, children: <AlertChannels /> },
        ]}
      />
    </Page>
  )
}
