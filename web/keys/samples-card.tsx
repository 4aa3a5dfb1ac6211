// Code samples for an operation in a programming language.
import { Link } from '@tanstack/react-router'
import { Alert, Card, Segmented, Select } from 'antd'
import type { ReactNode } from 'react'
import { docsAddress, operationAnchor } from '../../contract/docs-address.ts'
import { sample, sampleLanguageNames, sampleLanguages } from '../../contract/samples.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { useApiQuery, useMe, useStart } from '../api/hooks.ts'
import { useLanguage, usePick, useText } from '../frame/i18n.ts'
import { CopyButton } from '../parts/copy.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { endpointText } from '../parts/names.ts'
import { useUrlState } from '../parts/url-state.ts'
import {
  endpoints,
  exampleBody,
  operations,
  sendsTemplate,
  templateFor,
  templateValues,
} from './operations.ts'
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
  const isSend = sendsTemplate(chosen.id)
  const templates = useApiQuery(smsRoutes.templates, { state: '审核通过', size: 100 }, { enabled: isSend })
  const template = isSend && templates.data ? templateFor(chosen.id, templates.data.items) : undefined
  // The link of the example belongs to the sample account, too. Samples that change or delete a link keep it.
  const needsLink = chosen.id === 'shortlink.get' || chosen.id === 'shortlink.stats'
  const links = useApiQuery(linkRoutes.list, { size: 1 }, { enabled: needsLink })
  const link = needsLink ? links.data?.items[0] : undefined
  const values = {
    ...exampleBody(chosen, caller),
    ...(template ? templateValues(chosen.id, template) : {}),
    ...(link && { link_id: link.id }),
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
        {isSend && templates.data && !template && (
          <Alert
            type="warning"
            showIcon
            title={
              <Link to="/sms">{templates.data.items.length === 0 ? t.noTemplate : t.noCodeTemplate}</Link>
            }
          />
        )}
        <pre className="code" tabIndex={0} aria-label={t.sample} data-testid="sample">
          {code}
        </pre>
      </div>
    </Card>
  )
}
