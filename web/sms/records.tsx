// Send records with outcome, reason in plain words, gateway, parts, credits, receipt.
import { Link } from '@tanstack/react-router'
import { Card, Input, Select, Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { type SmsOutcome, type SmsRecord, smsRoutes } from '../../contract/console/sms.ts'
import { useAsk } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Copyable } from '../parts/copy.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { daysOf } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { Ago, Outcome, type Tone } from '../parts/figures.tsx'
import { List, Slicer } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { smsText } from './text.ts'

const defaults = { range: 'all', from: '', to: '', phone: '', biz: '', outcome: '', before: '' }
const outcomes = ['sent', 'delivered', 'failed', 'undecided'] as const

const tones: Readonly<Record<SmsOutcome, Tone>> = {
  sent: 'success',
  delivered: 'success',
  failed: 'error',
  undecided: 'pending',
}

export function Records(): ReactNode {
  const words = useText(smsText)
  const [shown, show] = useUrlState(defaults)
  const names: Readonly<Record<SmsOutcome, string>> = {
    sent: words.outcomeSent,
    delivered: words.outcomeDelivered,
    failed: words.outcomeFailed,
    undecided: words.outcomeUndecided,
  }
  const outcome = outcomes.find((known) => known === shown.outcome)
  const filter = {
    ...daysOf(shown.range, shown.from, shown.to, Date.now()),
    ...(shown.phone === '' ? {} : { phone_number: shown.phone }),
    ...(shown.biz === '' ? {} : { biz_id: shown.biz }),
    ...(outcome ? { outcome } : {}),
  }
  const records = useAsk(smsRoutes.records, {
    ...filter,
    ...(shown.before === '' ? {} : { before: Number(shown.before) }),
  })
  return (
    <>
      <div className="filters">
        <DateRange withAll {...shown} onChange={(range) => show({ ...range, before: '' })} />
        <Input.Search
          key={`phone${shown.phone}`}
          allowClear
          style={{ width: 240 }}
          placeholder={words.searchPhone}
          aria-label={words.searchPhone}
          defaultValue={shown.phone}
          onSearch={(phone) => show({ phone: phone.trim(), before: '' })}
        />
        <Input.Search
          key={`biz${shown.biz}`}
          allowClear
          style={{ width: 220 }}
          placeholder={words.searchBiz}
          aria-label={words.searchBiz}
          defaultValue={shown.biz}
          onSearch={(biz) => show({ biz: biz.trim(), before: '' })}
        />
        <Select
          aria-label={words.outcome}
          style={{ minWidth: 120 }}
          value={shown.outcome}
          onChange={(value) => show({ outcome: value, before: '' })}
          options={[
            { value: '', label: words.allOutcomes },
            ...outcomes.map((value) => ({ value, label: names[value] })),
          ]}
        />
        <ExportLink route={smsRoutes.recordsCsv} sent={filter} />
      </div>
      <Card size="small">
        <List<SmsRecord, NonNullable<typeof records.data>>
          asked={records}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.records}
          empty={{ text: words.emptyRecords }}
          onClear={Object.keys(filter).length > 0 ? () => show(defaults) : undefined}
          columns={[
            { title: words.at, render: (_value, { at }) => <Ago at={at} /> },
            {
              title: words.phone,
              render: (_value, { phone_number }) => <span className="mono">{phone_number}</span>,
            },
            {
              title: words.template,
              render: (_value, { template_code, template_name }) => (
                <span title={template_code}>{template_name || template_code}</span>
              ),
            },
            {
              title: words.outcome,
              render: (_value, record) => (
                <div>
                  <Tooltip title={record.outcome === 'undecided' ? words.undecidedText : undefined}>
                    <span>
                      <Outcome tone={tones[record.outcome]}>{names[record.outcome]}</Outcome>
                    </span>
                  </Tooltip>
                  {record.receipt_at !== null && (
                    <div className="small muted nowrap">
                      {words.receipt} <Ago at={record.receipt_at} />
                    </div>
                  )}
                  {record.reason && (
                    <div className="small muted" style={{ maxWidth: 160, whiteSpace: 'normal' }}>
                      {record.reason}
                    </div>
                  )}
                </div>
              ),
            },
            { title: words.gateway, render: (_value, { gateway }) => gateway ?? '' },
            { title: words.parts, align: 'end', dataIndex: 'parts' },
            {
              title: words.credits,
              align: 'end',
              render: (_value, { charged, given_back }) => (
                <span className="num">
                  −{charged}
                  {given_back > 0 && <span className="tone-success"> +{given_back}</span>}
                </span>
              ),
            },
            {
              title: words.bizId,
              render: (_value, { biz_id }) => <Copyable text={biz_id} what={words.bizId} />,
            },
            {
              title: words.call,
              render: (_value, { request_id }) => (
                <Link to="/requests" search={{ open: request_id }}>
                  {words.open}
                </Link>
              ),
            },
          ]}
          footer={({ next }) => (
            <Slicer before={shown.before} next={next} onChange={(before) => show({ before })} />
          )}
        />
      </Card>
    </>
  )
}
