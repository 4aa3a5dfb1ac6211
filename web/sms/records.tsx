// The list of sent messages.
import { Link } from '@tanstack/react-router'
import { Card, Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { smsRoutes } from '../../contract/console/sms.ts'
import type { SmsRecord } from '../../contract/console/responses/sms.ts'
import { useApiQuery } from '../api/hooks.ts'
import { asSentence } from '../api/sentence.ts'
import { useText } from '../frame/i18n.ts'
import { Copyable } from '../parts/copy.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { CreditsUsed, ExactTime, RelativeTime, StatusLabel, type Tone } from '../parts/format.tsx'
import { SearchFilter, SelectFilter } from '../parts/filters.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { smsText } from './text.ts'
import { type SmsOutcome, smsOutcomes } from '../../contract/console/values.ts'

const defaults = { range: 'all', from: '', to: '', phone: '', biz: '', outcome: '', before: '' }

const tones: Readonly<Record<SmsOutcome, Tone>> = {
  sent: 'success',
  delivered: 'success',
  failed: 'error',
  undecided: 'pending',
}

export function Records(): ReactNode {
  const t = useText(smsText)
  const [params, setParams] = useUrlState(defaults)
  const names: Readonly<Record<SmsOutcome, string>> = {
    sent: t.outcomeSent,
    delivered: t.outcomeDelivered,
    failed: t.outcomeFailed,
    undecided: t.outcomeUndecided,
  }
  const outcome = smsOutcomes.find((value) => value === params.outcome)
  const filter = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    ...(params.phone === '' ? {} : { phone_number: params.phone }),
    ...(params.biz === '' ? {} : { biz_id: params.biz }),
    ...(outcome ? { outcome } : {}),
  }
  const records = useApiQuery(smsRoutes.records, {
    ...filter,
    ...cursorQuery(params.before),
  })
  return (
    <>
      <div className="filters">
        <DateRange withAll {...params} onChange={(range) => setParams({ ...range, before: '' })} />
        <SearchFilter
          label={t.searchPhone}
          value={params.phone}
          width={240}
          onSearch={(phone) => setParams({ phone, before: '' })}
        />
        <SearchFilter
          label={t.searchBizId}
          value={params.biz}
          width={220}
          onSearch={(biz) => setParams({ biz, before: '' })}
        />
        <SelectFilter
          label={t.outcome}
          allLabel={t.allOutcomes}
          value={params.outcome}
          values={smsOutcomes}
          nameOf={(value) => names[value]}
          onChange={(value) => setParams({ outcome: value, before: '' })}
        />
        <ExportLink route={smsRoutes.recordsCsv} filter={filter} />
      </div>
      <Card size="small">
        <List<SmsRecord, NonNullable<typeof records.data>>
          query={records}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.records}
          empty={{
            text: t.emptyRecords,
            action: (
              <Link to="/sms" search={{ tab: 'send' }}>
                {t.goSend}
              </Link>
            ),
          }}
          onClear={Object.keys(filter).length > 0 ? () => setParams(defaults) : undefined}
          columns={[
            { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
            {
              title: t.phone,
              render: (_value, { phone_number }) => <span className="mono">{phone_number}</span>,
            },
            {
              title: t.template,
              render: (_value, { template_code, template_name }) => (
                <span title={template_code}>{template_name || template_code}</span>
              ),
            },
            {
              title: t.outcome,
              card: 'side',
              render: (_value, record) => (
                <div>
                  <Tooltip title={record.outcome === 'undecided' ? t.undecidedText : undefined}>
                    <span>
                      <StatusLabel tone={tones[record.outcome]}>{names[record.outcome]}</StatusLabel>
                    </span>
                  </Tooltip>
                  {record.receipt_at !== null && (
                    <div className="small muted nowrap">
                      {t.receipt} <RelativeTime at={record.receipt_at} />
                    </div>
                  )}
                  {record.reason && (
                    <div className="small muted" style={{ maxWidth: 160, whiteSpace: 'normal' }}>
                      {asSentence(record.reason)}
                    </div>
                  )}
                </div>
              ),
            },
            { title: t.gateway, render: (_value, { gateway }) => gateway ?? '' },
            { title: t.parts, align: 'end', dataIndex: 'parts' },
            {
              title: t.credits,
              align: 'end',
              render: (_value, { charged, given_back }) => (
                <CreditsUsed charged={charged} refunded={given_back} />
              ),
            },
            {
              title: t.bizId,
              render: (_value, { biz_id, request_id }) => (
                <div>
                  <Copyable text={biz_id} label={t.bizId} />
                  <div className="small nowrap">
                    <Link to="/requests" search={{ open: request_id }}>
                      {t.viewRequest}
                    </Link>
                  </div>
                </div>
              ),
            },
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
    </>
  )
}
