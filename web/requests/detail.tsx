// The details of one request: timeline, parameters, response and cost.
import { Descriptions, Drawer, Tag, Tooltip } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { explainError } from '../../contract/codes.ts'
import { requestRoutes } from '../../contract/console/requests.ts'
import { viewAsParameter } from '../../contract/console/route.ts'
import type { RequestDetail } from '../../contract/console/responses/requests.ts'
import { formatTime } from '../../contract/time.ts'
import { useApiQuery, useMe, useStart } from '../api/hooks.ts'
import { useLanguage, usePick, useText } from '../frame/i18n.ts'
import { consoleCredentials, endpoints } from '../keys/operations.ts'
import { Copyable, CopyButton } from '../parts/copy.tsx'
import { callText } from '../parts/names.ts'
import { formatCount, formatDuration, StatusLabel } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { objectTitle } from '../parts/page.tsx'
import { formatCurl } from './curl.ts'
import { requestsText } from './text.ts'

/** The account that an operator looks at; undefined for the own account. */
export interface ViewedAccount {
  readonly id: number
  readonly username: string
}

/** Reads a route of the account holder for another account; the first read is in the audit log. */
export function viewedQuery(viewed: Pick<ViewedAccount, 'id'> | undefined): Readonly<Record<string, string>> {
  return viewed ? { [viewAsParameter]: String(viewed.id) } : {}
}

interface RequestDrawerProps {
  readonly requestId: string
  readonly viewed?: ViewedAccount | undefined
  readonly onClose: () => void
}

export function RequestDrawer({ requestId, viewed, onClose }: RequestDrawerProps): ReactNode {
  const t = useText(requestsText)
  const pick = usePick()
  const { data } = useApiQuery(requestRoutes.one, viewedQuery(viewed), {
    params: { id: requestId },
    enabled: requestId !== '',
  })
  const name = data && `${pick(callText(data.endpoint, data.action))} ${requestId.slice(0, 8)}`
  return (
    <Drawer
      open={requestId !== ''}
      size={640}
      title={<h2>{objectTitle(t.detail, name)}</h2>}
      onClose={onClose}
      destroyOnHidden
    >
      {requestId !== '' && <OneRequest key={requestId} requestId={requestId} viewed={viewed} />}
    </Drawer>
  )
}

function OneRequest({ requestId, viewed }: Omit<RequestDrawerProps, 'onClose'>): ReactNode {
  const t = useText(requestsText)
  const pick = usePick()
  const language = useLanguage()
  const explain = ({ code, message }: RequestDetail) =>
    language === 'zh' ? (message ?? t.error) : explainError(code).meaning.en
  const request = useApiQuery(requestRoutes.one, viewedQuery(viewed), { params: { id: requestId } })
  return (
    <Loaded query={request}>
      {(call) => (
        <div className="stack">
          <div className="row-between">
            <StatusLabel tone={call.ok ? 'success' : 'error'}>
              {call.ok ? t.ok : `${call.code} ${explain(call)}`}
            </StatusLabel>
            <span className="row">
              <CurlButton call={call} viewed={viewed} />
              <CopyButton text={() => window.location.href} label={t.link}>
                {t.copyLink}
              </CopyButton>
            </span>
          </div>
          <Descriptions
            size="small"
            column={{ xs: 1, sm: 2 }}
            items={[
              {
                key: 'id',
                label: t.requestId,
                span: 'filled',
                children: <Copyable text={call.request_id} label={t.requestId} />,
              },
              { key: 'at', label: t.at, children: `${formatTime(call.at)} (UTC+8)` },
              {
                key: 'endpoint',
                label: t.endpoint,
                children: pick(callText(call.endpoint, call.action)),
              },
              { key: 'source', label: t.callSource, children: t[call.source] },
              { key: 'method', label: t.method, children: `${call.method} · ${call.status}` },
              { key: 'gateway', label: t.gateway, children: call.gateway ?? '–' },
              {
                key: 'credits',
                label: t.credits,
                children: t.chargedAndRefunded(formatCount(call.charged), formatCount(call.given_back)),
              },
              {
                key: 'address',
                label: t.address,
                children: <span className="mono">{call.address}</span>,
              },
              ...(call.replayed || call.idempotency_key
                ? [
                    {
                      key: 'repeat',
                      label: t.idempotency,
                      children: call.replayed ? (
                        <Tooltip title={t.replayedText}>
                          <Tag>{t.replayed}</Tag>
                        </Tooltip>
                      ) : (
                        t.keySent
                      ),
                    },
                  ]
                : []),
            ]}
          />
          <Steps call={call} />
          <Parameters call={call} />
          <section className="stack-8">
            <h3>{t.response}</h3>
            {call.answer === null ? (
              <span className="muted">{t.tooLarge}</span>
            ) : (
              <pre className="code wrap" tabIndex={0} aria-label={t.response}>
                {JSON.stringify(call.answer, null, 2)}
              </pre>
            )}
          </section>
        </div>
      )}
    </Loaded>
  )
}

interface CurlButtonProps {
  readonly call: RequestDetail
  readonly viewed: ViewedAccount | undefined
}

function CurlButton({ call, viewed }: CurlButtonProps): ReactNode {
  const t = useText(requestsText)
  const start = useStart()
  const base = start.data?.public_url ?? window.location.origin
  const me = useMe()
  const endpoint = endpoints.find(({ name }) => name === call.endpoint)
  const path = endpoint?.path ?? ''
  const credentials =
    call.source === 'console' && endpoint
      ? consoleCredentials(endpoint, call.action, viewed?.username ?? me.data?.account.username ?? '')
      : {}
  return (
    <Tooltip title={t.masked}>
      <span>
        <CopyButton text={() => formatCurl(call, base + path, credentials)} label={t.curlCommand}>
          {t.copyCurl}
        </CopyButton>
      </span>
    </Tooltip>
  )
}

function Steps({ call }: { call: RequestDetail }): ReactNode {
  const t = useText(requestsText)
  const steps = useMemo(() => {
    const names: Readonly<Record<string, string>> = {
      checked: t.checked,
      charged: t.charged,
      gateway: t.gatewayStep,
      settled: t.settled,
    }
    const times = [
      { name: t.received, ms: 0 },
      ...call.steps.map(({ name, ms }) => ({ name: names[name] ?? name, ms })),
      { name: t.responded, ms: call.duration_ms },
    ]
    return times.map((step, index) => ({ ...step, took: step.ms - (times[index - 1]?.ms ?? 0) }))
  }, [call, t])
  return (
    <section className="stack-8">
      <h3>{t.timeline}</h3>
      <ol className="steps-line">
        {steps.map(({ name, ms, took }, index) => (
          <li key={name}>
            <span>{name}</span>
            <span className="num muted">
              {index === 0 ? '' : `+${formatDuration(took)} · ${formatDuration(ms)}`}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function Parameters({ call }: { call: RequestDetail }): ReactNode {
  const t = useText(requestsText)
  return (
    <section className="stack-8">
      <h3>{t.parameters}</h3>
      {call.parameters.length === 0 ? (
        <span className="muted">{t.noParameters}</span>
      ) : (
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">{t.name}</th>
              <th scope="col">{t.value}</th>
              <th scope="col">{t.source}</th>
            </tr>
          </thead>
          <tbody>
            {call.parameters.map(({ name, value, source }) => (
              <tr key={name}>
                <th scope="row" className="mono">
                  {name}
                </th>
                <td className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</td>
                <td>{t[source]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
