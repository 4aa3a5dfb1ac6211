// One call: what happened when, with which parameters, what was answered, what it cost.
import { Descriptions, Drawer, Tag, Tooltip } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { type RequestDetail, requestRoutes } from '../../contract/console/requests.ts'
import { formatTime } from '../../contract/time.ts'
import { useAsk, useStart } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { endpoints } from '../keys/operations.ts'
import { Copyable, CopyButton } from '../parts/copy.tsx'
import { endpointText } from '../parts/endpoint-names.ts'
import { count, duration, Outcome } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { curlOf } from './curl.ts'
import { requestsText } from './text.ts'

export function RequestDrawer({ requestId, onClose }: { requestId: string; onClose: () => void }): ReactNode {
  const words = useText(requestsText)
  return (
    <Drawer open={requestId !== ''} size={640} title={words.detail} onClose={onClose} destroyOnHidden>
      {requestId !== '' && <OneRequest key={requestId} requestId={requestId} />}
    </Drawer>
  )
}

function OneRequest({ requestId }: { requestId: string }): ReactNode {
  const words = useText(requestsText)
  const pick = usePick()
  const request = useAsk(requestRoutes.one, {}, { parts: { id: requestId } })
  return (
    <Loaded asked={request}>
      {(call) => (
        <div className="stack">
          <div className="row-between">
            <Outcome tone={call.ok ? 'success' : 'error'}>
              {call.ok ? words.ok : `${call.code} ${call.message ?? words.error}`}
            </Outcome>
            <span className="row">
              <CurlButton call={call} />
              <CopyButton text={() => window.location.href} what={words.linkWord}>
                {words.copyLink}
              </CopyButton>
            </span>
          </div>
          <Descriptions
            size="small"
            column={{ xs: 1, sm: 2 }}
            items={[
              {
                key: 'id',
                label: words.requestId,
                span: 'filled',
                children: <Copyable text={call.request_id} what={words.requestId} />,
              },
              { key: 'at', label: words.at, children: `${formatTime(call.at)} (UTC+8)` },
              {
                key: 'endpoint',
                label: words.endpoint,
                children: `${pick(endpointText(call.endpoint))} ${call.action ?? ''}`,
              },
              { key: 'method', label: words.method, children: `${call.method} · ${call.status}` },
              { key: 'gateway', label: words.gateway, children: call.gateway ?? '–' },
              {
                key: 'credits',
                label: words.credits,
                children: words.chargedBack(count(call.charged), count(call.given_back)),
              },
              {
                key: 'address',
                label: words.address,
                children: <span className="mono">{call.address}</span>,
              },
              ...(call.replayed || call.idempotency_key
                ? [
                    {
                      key: 'repeat',
                      label: 'Idempotency-Key',
                      children: call.replayed ? (
                        <Tooltip title={words.replayedText}>
                          <Tag>{words.replayed}</Tag>
                        </Tooltip>
                      ) : (
                        words.idempotent
                      ),
                    },
                  ]
                : []),
            ]}
          />
          <Steps call={call} />
          <Parameters call={call} />
          <section className="stack-8">
            <h3>{words.answer}</h3>
            {call.answer === null ? (
              <span className="muted">{words.tooLarge}</span>
            ) : (
              <pre className="code wrap" tabIndex={0} aria-label={words.answer}>
                {JSON.stringify(call.answer, null, 2)}
              </pre>
            )}
          </section>
        </div>
      )}
    </Loaded>
  )
}

function CurlButton({ call }: { call: RequestDetail }): ReactNode {
  const words = useText(requestsText)
  const start = useStart()
  const base = start.data?.public_url ?? window.location.origin
  const path = endpoints.find(({ name }) => name === call.endpoint)?.path ?? ''
  return (
    <Tooltip title={words.masked}>
      <span>
        <CopyButton text={() => curlOf(call, base + path)} what={words.curlWord}>
          {words.copyCurl}
        </CopyButton>
      </span>
    </Tooltip>
  )
}

function Steps({ call }: { call: RequestDetail }): ReactNode {
  const words = useText(requestsText)
  const steps = useMemo(() => {
    const names: Readonly<Record<string, string>> = {
      checked: words.checked,
      charged: words.charged,
      gateway: words.gatewayStep,
      settled: words.settled,
    }
    const reached = [
      { name: words.received, ms: 0 },
      ...call.steps.map(({ name, ms }) => ({ name: names[name] ?? name, ms })),
      { name: words.answered, ms: call.duration_ms },
    ]
    return reached.map((step, index) => ({ ...step, took: step.ms - (reached[index - 1]?.ms ?? 0) }))
  }, [call, words])
  return (
    <section className="stack-8">
      <h3>{words.timeline}</h3>
      <ol className="steps-line">
        {steps.map(({ name, ms, took }, index) => (
          <li key={name}>
            <span>{name}</span>
            <span className="num muted">{index === 0 ? '' : `+${duration(took)} · ${duration(ms)}`}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function Parameters({ call }: { call: RequestDetail }): ReactNode {
  const words = useText(requestsText)
  return (
    <section className="stack-8">
      <h3>{words.parameters}</h3>
      {call.parameters.length === 0 ? (
        <span className="muted">{words.noParameters}</span>
      ) : (
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">{words.name}</th>
              <th scope="col">{words.value}</th>
              <th scope="col">{words.source}</th>
            </tr>
          </thead>
          <tbody>
            {call.parameters.map(({ name, value, source }) => (
              <tr key={name}>
                <th scope="row" className="mono">
                  {name}
                </th>
                <td className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</td>
                <td>{words[source]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
