// The audit log: who did what when.
import { Card, Input } from 'antd'
import type { ReactNode } from 'react'
import { type AuditFilter, operatorRoutes } from '../../contract/console/operator.ts'
import { useAsk } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { DateRange } from '../parts/date-range.tsx'
import { daysOf } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { Ago } from '../parts/figures.tsx'
import { List, Slicer } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { auditActions } from './audit-actions.ts'
import { operatorText } from './text.ts'

const defaults = { range: 'all', from: '', to: '', actor: '', action: '', target: '', before: '' }

export function AuditPage(): ReactNode {
  const words = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  const [shown, show] = useUrlState(defaults)
  const filter: AuditFilter = {
    ...daysOf(shown.range, shown.from, shown.to, Date.now()),
    ...(shown.actor === '' ? {} : { actor: shown.actor }),
    ...(shown.action === '' ? {} : { action: shown.action }),
    ...(shown.target === '' ? {} : { target: shown.target }),
  }
  const audit = useAsk(operatorRoutes.audit, {
    ...filter,
    ...(shown.before === '' ? {} : { before: Number(shown.before) }),
  })
  const fields = [
    ['actor', words.actor],
    ['action', words.action],
    ['target', words.target],
  ] as const
  return (
    <Page title={words.audit} lead={words.auditLead}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <DateRange withAll {...shown} onChange={(range) => show({ ...range, before: '' })} />
        {fields.map(([name, label]) => (
          <Input.Search
            key={`${name}${shown[name]}`}
            allowClear
            style={{ width: 180 }}
            placeholder={label}
            aria-label={label}
            defaultValue={shown[name]}
            onSearch={(value) => show({ [name]: value.trim(), before: '' })}
          />
        ))}
        <ExportLink route={operatorRoutes.auditCsv} sent={filter} />
      </div>
      <Card size="small">
        <List
          asked={audit}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.audit}
          empty={{ text: words.noAudit }}
          onClear={Object.keys(filter).length > 0 ? () => show(defaults) : undefined}
          columns={[
            { title: words.at, render: (_value, { at }) => <Ago at={at} /> },
            { title: words.actor, dataIndex: 'actor' },
            {
              title: words.action,
              render: (_value, { action }) => {
                const known = auditActions[action]
                return (
                  <span className="nowrap">
                    {known && <div>{pick(known)}</div>}
                    <span className={known ? 'mono small muted' : 'mono'}>{action}</span>
                  </span>
                )
              },
            },
            { title: words.target, dataIndex: 'target' },
            {
              title: common.note,
              render: (_value, { note }) => (
                <div style={{ maxWidth: 240, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>{note}</div>
              ),
            },
            {
              title: words.details,
              render: (_value, { details }) => (
                <div className="mono small" style={{ maxWidth: 400, whiteSpace: 'normal' }}>
                  {Object.entries(details)
                    .map(([name, value]) => `${name}: ${value ?? '–'}`)
                    .join(', ')}
                </div>
              ),
            },
          ]}
          footer={({ next }) => (
            <Slicer before={shown.before} next={next} onChange={(before) => show({ before })} />
          )}
        />
      </Card>
    </Page>
  )
}
