// The request log as a list with filters and details: of the own account, or of an account that an operator looks at.
import { Link } from '@tanstack/react-router'
import { Alert, Card, InputNumber, Tag, Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { explainError } from '../../contract/codes.ts'
import { endpointNames, requestSources } from '../../contract/console/values.ts'
import { type RequestFilter, requestRoutes } from '../../contract/console/requests.ts'
import type { RequestSummary } from '../../contract/console/responses/requests.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useLanguage, usePick, useText } from '../frame/i18n.ts'
import { endpoints, operations } from '../keys/operations.ts'
import { CopyButton } from '../parts/copy.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { callText, callWord, endpointText } from '../parts/names.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { CreditsUsed, ExactTime, formatCount, formatDuration, StatusLabel } from '../parts/format.tsx'
import { SearchFilter, SelectFilter } from '../parts/filters.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { RequestDrawer, type ViewedAccount, viewedQuery } from './detail.tsx'
import { requestsText } from './text.ts'

const defaults = {
  range: 'all',
  from: '',
  to: '',
  endpoint: '',
  outcome: '',
  code: '',
  action: '',
  source: '',
  address: '',
  min_ms: '',
  q: '',
  before: '',
  open: '',
}
const outcomes = ['ok', 'error'] as const
const durations = ['100', '500', '1000', '5000'] as const
const liveMs = 3_000

/** The state of the log: filters from the URL, and the calls that match. Only the first page is live. */
export function useRequestLog({ paused, viewed }: { paused: boolean; viewed?: ViewedAccount }) {
  const [params, setParams] = useUrlState(defaults)
  const endpoint = endpointNames.find((name) => name === params.endpoint)
  const source = requestSources.find((name) => name === params.source)
  const outcome = outcomes.find((name) => name === params.outcome)
  const filter: RequestFilter = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    ...(endpoint ? { endpoint } : {}),
    ...(outcome ? { outcome } : {}),
    ...(/^\d+$/.test(params.code) ? { code: Number(params.code) } : {}),
    ...(params.action === '' ? {} : { action: params.action }),
    ...(source ? { source } : {}),
    ...(params.address.trim() === '' ? {} : { address: params.address.trim() }),
    ...(/^\d+$/.test(params.min_ms) ? { min_ms: Number(params.min_ms) } : {}),
    ...(params.q.trim() === '' ? {} : { q: params.q.trim() }),
    ...viewedQuery(viewed),
  }
  const isLive = !paused && params.before === ''
  const requests = useApiQuery(
    requestRoutes.list,
    { ...filter, ...cursorQuery(params.before) },
    { refetchMs: isLive ? liveMs : false },
  )
  return { params, setParams, endpoint, filter, isLive, requests, viewed }
}

type RequestLogState = ReturnType<typeof useRequestLog>

export function RequestLog({ log }: { log: RequestLogState }): ReactNode {
  const t = useText(requestsText)
  const language = useLanguage()
  const { params, setParams, requests, viewed } = log
  /** Messages of the API are Chinese; readers of English get the meaning of the code. */
  const explain = (code: number, message: string | null) =>
    language === 'zh' ? message : explainError(code).meaning.en
  const isFiltered = Object.entries(defaults).some(
    ([name, value]) => !['open', 'before'].includes(name) && params[name as keyof typeof defaults] !== value,
  )
  return (
    <>
      {requests.data !== undefined && requests.data.skipped_today > 0 && (
        <Alert showIcon type="warning" title={t.skipped(formatCount(requests.data.skipped_today))} />
      )}
      <Filters log={log} />
      <Card size="small">
        <List<RequestSummary, NonNullable<typeof requests.data>>
          query={requests}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.title}
          empty={
            viewed ? { text: t.emptyOf } : { text: t.empty, action: <Link to="/keys">{t.viewSamples}</Link> }
          }
          onClear={isFiltered ? () => setParams(defaults) : undefined}
          onOpen={({ request_id }) => setParams({ open: request_id })}
          columns={[
            { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
            {
              title: t.endpoint,
              card: 'plain',
              render: (_value, { endpoint: name, action, source: callSource }) => (
                <span>
                  <CallName endpoint={name} action={action} />{' '}
                  {callSource === 'console' && <Tag>{t.console}</Tag>}
                </span>
              ),
            },
            {
              title: t.outcome,
              card: 'side',
              render: (_value, { ok, code, message }) => (
                <StatusLabel tone={ok ? 'success' : 'error'}>
                  {ok ? (
                    t.ok
                  ) : (
                    <span className="cell-text" title={message ?? ''}>
                      <span className="mono">{code}</span> {explain(code, message)}
                    </span>
                  )}
                </StatusLabel>
              ),
            },
            {
              title: t.duration,
              card: 'plain',
              align: 'end',
              render: (_value, { duration_ms }) => formatDuration(duration_ms),
            },
            { title: t.gateway, card: 'hide', render: (_value, { gateway }) => gateway ?? '' },
            {
              title: t.credits,
              align: 'end',
              render: (_value, { charged, given_back, replayed }) => (
                <span className="num">
                  {replayed && (
                    <Tooltip title={t.replayedText}>
                      <Tag>{t.replayed}</Tag>
                    </Tooltip>
                  )}
                  <CreditsUsed charged={charged} refunded={given_back} />
                </span>
              ),
            },
            {
              title: t.requestId,
              card: 'hide',
              render: (_value, { request_id }) => (
                <span className="copy">
                  <OpenLink search={{ open: request_id }} className="mono nowrap" label={request_id}>
                    {request_id.slice(0, 8)}
                  </OpenLink>
                  <CopyButton text={request_id} label={t.requestId} />
                </span>
              ),
            },
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
      <RequestDrawer requestId={params.open} viewed={viewed} onClose={() => setParams({ open: '' })} />
    </>
  )
}

function CallName({ endpoint, action }: Pick<RequestSummary, 'endpoint' | 'action'>): ReactNode {
  const pick = usePick()
  if (callWord(endpoint, action)) return pick(callText(endpoint, action))
  return (
    <>
      {pick(endpointText(endpoint))} <span className="mono muted">{action}</span>
    </>
  )
}

function Filters({ log: { params, setParams, endpoint, filter } }: { log: RequestLogState }): ReactNode {
  const t = useText(requestsText)
  const pick = usePick()
  const operationName = (endpointName: string, name: string) => {
    const found = operations.find(({ id }) => id === `${endpointName}.${name}`)
    return found ? pick(found.operation.text) : name
  }
  return (
    <div className="filters" style={{ marginBottom: 0 }}>
      <SearchFilter
        label={t.search}
        value={params.q}
        width={430}
        onSearch={(q) => setParams({ q, before: '' })}
      />
      <DateRange withAll {...params} onChange={(range) => setParams({ ...range, before: '' })} />
      <SelectFilter
        label={t.endpoint}
        allLabel={t.allEndpoints}
        value={params.endpoint}
        values={endpointNames}
        nameOf={(value) => pick(endpointText(value))}
        onChange={(value) => setParams({ endpoint: value, action: '', before: '' })}
      />
      <SelectFilter
        label={t.outcome}
        allLabel={t.allOutcomes}
        value={params.outcome}
        values={outcomes}
        nameOf={(value) => t[value]}
        onChange={(value) => setParams({ outcome: value, before: '' })}
      />
      {endpoint && (
        <SelectFilter
          label={t.action}
          allLabel={t.allActions}
          value={params.action}
          values={Object.keys(endpoints.find(({ name }) => name === endpoint)?.operations ?? {})}
          nameOf={(value) => operationName(endpoint, value)}
          onChange={(value) => setParams({ action: value, before: '' })}
        />
      )}
      <SelectFilter
        label={t.callSource}
        allLabel={t.allSources}
        value={params.source}
        values={requestSources}
        nameOf={(value) => t[value]}
        onChange={(value) => setParams({ source: value, before: '' })}
      />
      <SelectFilter
        label={t.slower}
        allLabel={t.anyDuration}
        value={params.min_ms}
        values={durations}
        nameOf={(value) => `≥ ${formatDuration(Number(value))}`}
        onChange={(value) => setParams({ min_ms: value, before: '' })}
      />
      <SearchFilter
        label={t.addressFilter}
        value={params.address}
        width={200}
        onSearch={(address) => setParams({ address, before: '' })}
      />
      <InputNumber
        aria-label={t.code}
        placeholder={t.code}
        style={{ width: 96 }}
        controls={false}
        value={params.code === '' ? null : Number(params.code)}
        onChange={(value) => setParams({ code: value === null ? '' : String(value), before: '' })}
      />
      <ExportLink route={requestRoutes.csv} filter={filter} />
    </div>
  )
}
