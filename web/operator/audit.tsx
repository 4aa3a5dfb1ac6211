// The audit log.
import { Card, Select } from 'antd'
import type { ReactNode } from 'react'
import { auditActions } from '../../contract/audit-actions.ts'
import { type AuditFilter, operatorRoutes } from '../../contract/console/operator.ts'
import type { Text } from '../../contract/text.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { ExactTime } from '../parts/format.tsx'
import { SearchFilter } from '../parts/filters.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { operatorText } from './text.ts'

/** An action of another version is shown as its identifier. */
const actionNames: Readonly<Record<string, Text>> = auditActions

const defaults = { range: 'all', from: '', to: '', actor: '', action: '', target: '', before: '' }

export function AuditPage(): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  const [params, setParams] = useUrlState(defaults)
  const filter: AuditFilter = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    ...(params.actor === '' ? {} : { actor: params.actor }),
    ...(params.action === '' ? {} : { action: params.action }),
    ...(params.target === '' ? {} : { target: params.target }),
  }
  const audit = useApiQuery(operatorRoutes.audit, {
    ...filter,
    ...cursorQuery(params.before),
  })
  const fields = [
    ['actor', t.actor],
    ['target', t.target],
  ] as const
  return (
    <Page title={t.audit} lead={t.auditLead}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <DateRange withAll {...params} onChange={(range) => setParams({ ...range, before: '' })} />
        {fields.map(([name, label]) => (
          <SearchFilter
            key={name}
            label={label}
            value={params[name]}
            width={180}
            onSearch={(value) => setParams({ [name]: value, before: '' })}
          />
        ))}
        <Select<string>
          aria-label={t.action}
          style={{ minWidth: 200 }}
          showSearch={{ optionFilterProp: 'label' }}
          value={params.action}
          onChange={(action) => setParams({ action, before: '' })}
          options={[
            { value: '', label: t.allActions },
            ...Object.entries(actionNames).map(([value, name]) => ({ value, label: pick(name) })),
          ]}
        />
        <ExportLink route={operatorRoutes.auditCsv} filter={filter} />
      </div>
      <Card size="small">
        <List
          query={audit}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.audit}
          empty={{ text: t.noAudit }}
          onClear={Object.keys(filter).length > 0 ? () => setParams(defaults) : undefined}
          columns={[
            { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
            { title: t.actor, card: 'plain', dataIndex: 'actor' },
            {
              title: t.action,
              card: 'plain',
              render: (_value, { action }) => {
                const known = actionNames[action]
                return (
                  <span className="nowrap">
                    {known && <div>{pick(known)}</div>}
                    <span className={known ? 'mono small muted' : 'mono'}>{action}</span>
                  </span>
                )
              },
            },
            { title: t.target, card: 'plain', dataIndex: 'target' },
            {
              title: common.note,
              card: 'plain',
              render: (_value, { note }) => (
                <div
                  style={{
                    maxWidth: 'clamp(120px, 14vw, 240px)',
                    whiteSpace: 'normal',
                    overflowWrap: 'anywhere',
                  }}
                >
                  {note}
                </div>
              ),
            },
            {
              title: t.details,
              card: 'plain',
              render: (_value, { details }) => (
                <div
                  className="mono small"
                  style={{ maxWidth: 'clamp(160px, 20vw, 400px)', whiteSpace: 'normal' }}
                >
                  {Object.entries(details)
                    .map(([name, value]) => `${name}: ${value ?? '–'}`)
                    .join(', ')}
                </div>
              ),
            },
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
    </Page>
  )
}
