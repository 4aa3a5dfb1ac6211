// The domain check page: bulk check, history and watch list.
import { Tabs } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { CheckBox } from './check-box.tsx'
import { RunResults } from './run-results.tsx'
import { Runs } from './runs.tsx'
import { domainText } from './text.ts'
import { Watches } from './watches.tsx'

export function DomainCheckPage(): ReactNode {
  const t = useText(domainText)
  const [params, setParams] = useUrlState({ tab: 'check', run: '' })
  return (
    <Page title={t.title} lead={t.lead}>
      <Tabs
        activeKey={params.tab}
        onChange={(tab) => setParams({ tab, run: '' })}
        destroyOnHidden
        items={[
          {
            key: 'check',
            label: t.check,
            children: (
              <div className="stack">
                <CheckBox onStarted={(id) => setParams({ run: String(id) })} />
                {params.run !== '' && <RunResults key={params.run} id={params.run} />}
              </div>
            ),
          },
          {
            key: 'runs',
            label: t.runs,
            children: <Runs onOpen={(id) => setParams({ tab: 'check', run: String(id) })} />,
          },
          { key: 'watch', label: t.watches, children: <Watches /> },
        ]}
      />
    </Page>
  )
}
