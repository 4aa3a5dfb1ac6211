// Code samples for an operation in a programming language.
import { Link } from '@tanstack/react-router'
import { Alert, Card, Segmented, Select } from 'antd'
import type { ReactNode } from 'react'
import { docsAddress, operationAnchor } from '../../contract/docs-address.ts'
import { sample, sampleLanguageNames, sampleLanguages } from '../../contract/samples.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { useApiQuery, useMe, useStart } from '../api/hooks.ts'
import { useLanguage, usePick, useText } from '../frame/i18n.ts'
import { CopyButton } from '../parts/copy.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { endpointText } from '../parts/names.ts'
import { useUrlState } from '../parts/url-state.ts'
import { endpoints, exampleBody, operations, templateValues } from './operations.ts'
import { keysText } from './text.ts'

/** The samples contain a placeholder for the key, except right after it was created. */
export function Samples({ newKey }: { newKey: string | undefined }): ReactNode {
  const t = useText(keysText)
  const pick = usePick()
  const readerLanguage = useLanguage()
  const me = useMe()
  const start = useStart()
  const [params, setParams] = useUrlState({ operation: 'sms.credits', language: 'curl' })
  const isNarrow = useIsNarrow()
  const chosen = operations.find(({ id }) => id === params.operation) ?? operations[0]!
  const language = sampleLanguages.find((known) => known === params.language) ?? 'curl'
  const baseUrl = start.data?.public_url ?? window.location.origin
  const caller = { username: me.data?.account.username ?? '', key: newKey ?? '<API_KEY>' }
  // The example's own template belongs to the sample account.
  const isSend = chosen.id === 'sms.send'
  const templates = useApiQuery(smsRoutes.templates, { state: '审核通过', size: 1 }, { enabled: isSend })
  const template = templates.data?.items[0]
  const values = {
    ...exampleBody(chosen, caller),
    ...(isSend && template ? templateValues(template) : {}),
  }
  const [, operationName = ''] = chosen.id.split('.')
  const reference = `${docsAddress(readerLanguage)}#${operationAnchor(chosen.endpoint, operationName)}`
  const code = sample(language, { baseUrl, endpoint: chosen.endpoint, values })
  return (
    <Card
      title={<h2>{t.samples}</h2>}
      extra={
        <a href={reference} target="_blank" rel="noopener">
          {t.reference}
        </a>
      }
    >
      <div className="stack">
        <span>{newKey === undefined ? t.samplesText : t.samplesWithKey}</span>
        <div className="row-between">
          <div className="row">
            <Select
              aria-label={t.operation}
              style={{ width: 240 }}
              value={chosen.id}
              onChange={(operation: string) => setParams({ operation })}
              options={endpoints.map((endpoint) => ({
                label: pick(endpointText(endpoint.name as Parameters<typeof endpointText>[0])),
                options: operations
                  .filter((candidate) => candidate.endpoint === endpoint)
                  .map(({ id, operation }) => ({ value: id, label: pick(operation.text) })),
              }))}
            />
            <div className="scroll-x">
              <Segmented
                size={isNarrow ? 'small' : 'middle'}
                aria-label={t.language}
                value={language}
                onChange={(value) => setParams({ language: value })}
                options={sampleLanguages.map((value) => ({ value, label: sampleLanguageNames[value] }))}
              />
            </div>
          </div>
          <CopyButton text={code} label={t.sample}>
            {t.copyCode}
          </CopyButton>
        </div>
        {isSend && templates.data?.items.length === 0 && (
          <Alert type="warning" showIcon title={<Link to="/sms">{t.noTemplate}</Link>} />
        )}
        <pre className="code" tabIndex={0} aria-label={t.sample} data-testid="sample">
          {code}
        </pre>
      </div>
    </Card>
  )
}
