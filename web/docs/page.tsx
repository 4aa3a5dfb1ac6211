// The API reference, from the definitions that the service uses.
import { Link } from '@tanstack/react-router'
import { Card, Select, Tag } from 'antd'
import type { ReactNode } from 'react'
import { errorCodes, errorExplanations, statusOfCode } from '../../contract/codes.ts'
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import { describeParameter } from '../../contract/parameters.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { endpoints, operations } from '../keys/operations.ts'
import { Copyable } from '../parts/copy.tsx'
import { endpointText } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { docsText } from './text.ts'
import { TryIt } from './try-it.tsx'

export function DocsPage(): ReactNode {
  const t = useText(docsText)
  const pick = usePick()
  const [params, setParams] = useUrlState({ operation: 'shortlink.generate' })
  const chosen = operations.find(({ id }) => id === params.operation) ?? operations[0]!
  const { endpoint, operation } = chosen
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <>
          <Link to="/keys" search={{ operation: chosen.id }}>
            {t.samples}
          </Link>
          <a href="/docs/">{t.full}</a>
        </>
      }
    >
      <Select
        aria-label={t.operation}
        style={{ width: 320, maxWidth: '100%' }}
        value={chosen.id}
        onChange={(id: string) => setParams({ operation: id })}
        options={endpoints.map((group) => ({
          label: pick(endpointText(group.name as Parameters<typeof endpointText>[0])),
          options: operations
            .filter((candidate) => candidate.endpoint === group)
            .map(({ id, operation: { text } }) => ({ value: id, label: pick(text) })),
        }))}
      />
      <div className="grid-2">
        <div className="stack">
          <Card size="small" title={<h2>{pick(operation.text)}</h2>}>
            <OperationReference endpoint={endpoint} operation={operation} />
          </Card>
          <Card size="small" title={<h2>{t.codes}</h2>}>
            <ErrorCodes />
          </Card>
        </div>
        <Card size="small" className="beside" title={<h2>{t.tryIt}</h2>}>
          <TryIt key={chosen.id} chosen={chosen} />
        </Card>
      </div>
    </Page>
  )
}

function OperationReference({
  endpoint,
  operation,
}: {
  endpoint: Endpoint
  operation: Operation
}): ReactNode {
  const t = useText(docsText)
  const pick = usePick()
  const parameters = Object.entries({ ...endpoint.common, ...operation.parameters })
  return (
    <div className="stack">
      <div className="row">
        {endpoint.methods.map((method) => (
          <Tag key={method}>{method}</Tag>
        ))}
        <Copyable text={endpoint.path} label={t.path} />
      </div>
      {operation.actions.length > 0 && (
        <div>
          {t.actions}: <span className="mono">{operation.actions.join(' / ')}</span>
        </div>
      )}
      <div style={{ overflowX: 'auto' }} tabIndex={0} role="region" aria-label={t.parameters}>
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">{t.name}</th>
              <th scope="col" className="hide-narrow">
                {t.type}
              </th>
              <th scope="col" className="hide-narrow">
                {t.required}
              </th>
              <th scope="col">{t.meaning}</th>
            </tr>
          </thead>
          <tbody>
            {parameters.map(([name, parameter]) => (
              <tr key={name}>
                <th scope="row" className="mono nowrap">
                  {name}
                  {/* On phones, type and required have no columns. */}
                  <div className="hide-wide small muted">
                    {parameter.type}
                    {parameter.required && ` · ${t.required}`}
                  </div>
                </th>
                <td className="hide-narrow">{parameter.type}</td>
                <td className="hide-narrow">{parameter.required ? t.yes : t.no}</td>
                <td>
                  {pick(describeParameter(parameter))}
                  <div className="mono muted">
                    {typeof parameter.example === 'string'
                      ? parameter.example
                      : JSON.stringify(parameter.example)}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div>
        <strong>{t.format}</strong>
        <div className="mono">{t[endpoint.shape]}</div>
      </div>
      <p className="muted" style={{ margin: 0 }}>
        {endpoint.readsForms ? t.sources : t.sourcesJson}
      </p>
    </div>
  )
}

function ErrorCodes(): ReactNode {
  const t = useText(docsText)
  const pick = usePick()
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">{t.code}</th>
          <th scope="col">{t.status}</th>
          <th scope="col">{t.meaning}</th>
        </tr>
      </thead>
      <tbody>
        {errorCodes.map((code) => (
          <tr key={code}>
            <th scope="row" className="mono">
              {code}
            </th>
            <td className="mono">{statusOfCode[code]}</td>
            <td>{pick(errorExplanations[code].meaning)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
