// Settings as they are in force; secrets hidden.
import { Card, Input } from 'antd'
import type { ReactNode } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { useAsk } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Outcome } from '../parts/figures.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { operatorText } from './text.ts'

export function SettingsPage(): ReactNode {
  const words = useText(operatorText)
  const [shown, show] = useUrlState({ q: '' })
  const settings = useAsk(operatorRoutes.settings, {})
  const wanted = shown.q.toLowerCase()
  return (
    <Page title={words.settings} lead={words.settingsLead}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <Input.Search
          key={shown.q}
          allowClear
          style={{ width: 280, maxWidth: '100%' }}
          placeholder={words.filterSettings}
          aria-label={words.filterSettings}
          defaultValue={shown.q}
          onSearch={(q) => show({ q })}
        />
      </div>
      <Card size="small">
        <List
          asked={settings}
          items={({ items }) =>
            items.filter(({ name, text }) => `${name} ${text}`.toLowerCase().includes(wanted))
          }
          rowKey={({ name }) => name}
          label={words.settings}
          empty={{ text: words.settings }}
          onClear={wanted === '' ? undefined : () => show({ q: '' })}
          columns={[
            { title: words.name, render: (_value, { name }) => <span className="mono nowrap">{name}</span> },
            {
              title: words.value,
              render: (_value, { value, secret, is_set }) =>
                secret && is_set ? (
                  <Outcome tone="success">{words.secretSet}</Outcome>
                ) : value === null || value === '' ? (
                  <span className="muted">{words.notSet}</span>
                ) : (
                  <div className="mono" style={{ maxWidth: 280, whiteSpace: 'normal' }}>
                    {value}
                  </div>
                ),
            },
            {
              title: words.meaning,
              render: (_value, { text }) => (
                <div style={{ maxWidth: 'clamp(280px, 34vw, 560px)', whiteSpace: 'normal' }}>{text}</div>
              ),
            },
          ]}
        />
      </Card>
    </Page>
  )
}
