// The settings in effect by group, without secret values; those that differ from their default are marked.
import { Button, Card, Checkbox, Empty, Tag } from 'antd'
import type { ReactNode } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { SettingInForce } from '../../contract/console/responses/operator.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { BreakableUrl, StatusLabel } from '../parts/format.tsx'
import { SearchFilter } from '../parts/filters.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { operatorText } from './text.ts'

export function SettingsPage(): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const [params, setParams] = useUrlState({ q: '', changed: '' })
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
        <Checkbox
          checked={params.changed !== ''}
          onChange={({ target }) => setParams({ changed: target.checked ? '1' : '' })}
        >
          {t.onlyChanged}
        </Checkbox>
      </div>
      <Loaded query={settings}>
        {({ items }) => {
          const shown = items.filter(
            ({ name, text, is_set }) =>
              `${name} ${text}`.toLowerCase().includes(filter) && (params.changed === '' || is_set),
          )
          const groups = [...Map.groupBy(shown, ({ group }) => group)]
          if (groups.length === 0) {
            return (
              <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={common.emptyFiltered}>
                <Button onClick={() => setParams({ q: '', changed: '' })}>{common.clearFilters}</Button>
              </Empty>
            )
          }
          return (
            <>
              {groups.map(([group, own]) => (
                <Card key={group} size="small" title={<h2>{group}</h2>}>
                  <dl className="settings">
                    {own.map((setting) => (
                      <SettingRow key={setting.name} setting={setting} />
                    ))}
                  </dl>
                </Card>
              ))}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

function SettingRow({ setting }: { setting: SettingInForce }): ReactNode {
  const t = useText(operatorText)
  const { name, value, secret, is_set, text } = setting
  return (
    <div>
      <dt>
        <span className="mono">{name}</span> {is_set && <Tag color="blue">{t.changedSetting}</Tag>}
      </dt>
      <dd>
        {secret && is_set ? (
          <StatusLabel tone="success">{t.secretSet}</StatusLabel>
        ) : value === null || value === '' ? (
          <span className="muted">{t.notSet}</span>
        ) : (
          <span className="mono">
            <BreakableUrl url={value} />
          </span>
        )}
        <div className="muted">
          <BreakableUrl url={text} />
        </div>
      </dd>
    </div>
  )
}
