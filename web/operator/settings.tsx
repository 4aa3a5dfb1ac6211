// The settings in effect, without secret values.
import { Card } from 'antd'
import type { ReactNode } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { StatusLabel } from '../parts/format.tsx'
import { SearchFilter } from '../parts/filters.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { operatorText } from './text.ts'

export function SettingsPage(): ReactNode {
  const t = useText(operatorText)
  const [params, setParams] = useUrlState({ q: '' })
  const settings = useApiQuery(operatorRoutes.settings, {})
  const filter = params.q.toLowerCase()
  return (
    <Page title={t.settings} lead={t.settingsLead}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <SearchFilter
          label={t.filterSettings}
          value={params.q}
          width={280}
          onSearch={(q) => setParams({ q })}
        />
      </div>
      <Card size="small">
        <List
          query={settings}
          items={({ items }) =>
            items.filter(({ name, text }) => `${name} ${text}`.toLowerCase().includes(filter))
          }
          rowKey={({ name }) => name}
          label={t.settings}
          empty={{ text: t.settings }}
          onClear={filter === '' ? undefined : () => setParams({ q: '' })}
          columns={[
            { title: t.name, render: (_value, { name }) => <span className="mono nowrap">{name}</span> },
            {
              title: t.value,
              render: (_value, { value, secret, is_set }) =>
                secret && is_set ? (
                  <StatusLabel tone="success">{t.secretSet}</StatusLabel>
                ) : value === null || value === '' ? (
                  <span className="muted">{t.notSet}</span>
                ) : (
                  <div className="mono" style={{ maxWidth: 280, whiteSpace: 'normal' }}>
                    {value}
                  </div>
                ),
            },
            {
              title: t.meaning,
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
