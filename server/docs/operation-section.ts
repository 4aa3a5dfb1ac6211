// An endpoint in the reference: its operations with parameters, responses, errors, examples and code samples.
import type { TSchema } from 'typebox'
import { operationAnchor } from '../../contract/docs-address.ts'
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import { describeParameter, type Parameter, type Parameters } from '../../contract/parameters.ts'
import type { Example, OperationReference } from '../../contract/reference.ts'
import type { DocumentedEndpoint } from '../../contract/reference/interface.ts'
import { sample, sampleLanguageNames, sampleLanguages } from '../../contract/samples.ts'
import type { Language, Text } from '../../contract/text.ts'
import { type ApiType, apiTypeNames } from '../../contract/credits.ts'
import type { ResponseSchema } from './schemas.ts'
import { codeBlock } from './highlight.ts'
import { type Html, html, nameCode, sentence, table } from './html.ts'
import { exampleBody, type DocsContext } from './operations.ts'
import { tabs } from './tabs.ts'

const words = {
  parameters: { zh: '请求参数', en: 'Parameters' },
  response: { zh: '成功响应', en: 'Response' },
  errors: { zh: '错误', en: 'Errors' },
  examples: { zh: '示例', en: 'Examples' },
  samples: { zh: '代码示例', en: 'Code samples' },
  name: { zh: '名称', en: 'Name' },
  type: { zh: '类型', en: 'Type' },
  required: { zh: '必填', en: 'Required' },
  meaning: { zh: '说明', en: 'Description' },
  field: { zh: '字段', en: 'Field' },
  yes: { zh: '是', en: 'yes' },
  no: { zh: '否', en: 'no' },
  when: { zh: '原因', en: 'Reason' },
  scope: { zh: '所需权限：', en: 'Scope: ' },
  free: { zh: '不消耗额度。', en: 'Free.' },
  sharedErrors: {
    zh: '各接口共有的错误见“错误码”。',
    en: 'Errors of all endpoints are listed under “Error codes”.',
  },
  mayBeAbsent: { zh: '（可能不返回）', en: ' (may be absent)' },
} as const satisfies Record<string, Text>

const colon: Text = { zh: '：', en: ': ' }

const typeNames: Readonly<Record<Parameter['type'] | 'number' | 'object', Text>> = {
  string: { zh: '字符串', en: 'string' },
  integer: { zh: '整数', en: 'integer' },
  number: { zh: '数字', en: 'number' },
  boolean: { zh: '布尔值', en: 'boolean' },
  list: { zh: '数组', en: 'array' },
  items: { zh: '数组', en: 'array' },
  map: { zh: '对象（值为字符串）', en: 'object of strings' },
  object: { zh: '对象', en: 'object' },
}

export function endpointSection(
  documented: DocumentedEndpoint,
  context: DocsContext,
  language: Language,
): Html {
  const { endpoint, title, reference } = documented
  const operations = Object.entries(endpoint.operations).map(([name, operation]) =>
    operationSection(endpoint, name, operation, reference[name]!, context, language),
  )
  return html`<section>
    <h2 id="${endpoint.name}">${title[language]}</h2>
    <p class="address">
      <span class="method">${endpoint.methods.join(', ')}</span>
      <code>${context.publicUrl}${endpoint.path}</code>
    </p>
    ${operations}
  </section>`
}

function operationSection(
  endpoint: Endpoint,
  name: string,
  operation: Operation,
  reference: OperationReference,
  context: DocsContext,
  language: Language,
): Html {
  const anchor = operationAnchor(endpoint, name)
  const actions = operation.actions.map((action) => html` <code>${action}</code>`)
  const [example] = reference.examples
  const body = example && JSON.stringify(exampleBody(endpoint, operation, example))
  return html`<div
    class="op"
    data-path="${endpoint.path}"
    data-body="${body ?? ''}"
    data-paid="${reference.price ? 'yes' : 'no'}"
  >
    <h3 id="${anchor}">${operation.text[language]}${actions}</h3>
    <div class="op-text">
      <p>${cost(reference, context, language)} ${words.scope[language]}<code>${operation.scope}</code></p>
      ${reference.notes.map((note) => html`<p>${sentence(note[language])}</p>`)}
      <h4>${words.parameters[language]}</h4>
      ${parameterTable({ ...commonOf(endpoint, operation), ...operation.parameters }, language)}
      <h4>${words.response[language]}</h4>
      ${responseTable(reference.response, language)}
      <h4>${words.errors[language]}</h4>
      ${errorTable(endpoint, reference, language)}
      <p class="note">${words.sharedErrors[language]}</p>
    </div>
    <div class="op-code">
      <h4>${words.samples[language]}</h4>
      ${samples(anchor, endpoint, operation, reference, context)}
      <h4>${words.examples[language]}</h4>
      ${reference.examples.map((one) => exampleBlock(endpoint, operation, one, language))}
    </div>
  </div>`
}

/** As part of a sentence: 1 short link credit. */
const creditKinds: Readonly<Record<ApiType, string>> = {
  short_link: 'short link',
  sms: 'SMS',
  id_verification: 'identity verification',
  domain_check: 'domain check',
}

function cost({ price }: OperationReference, { config }: DocsContext, language: Language): string {
  if (!price) return words.free[language]
  const credits = config.PRICES[price.name]
  return language === 'zh'
    ? `${price.per.zh}消耗 ${credits} 次${apiTypeNames[price.apiType].zh}额度。支持 Idempotency-Key。`
    : `Costs ${credits} ${creditKinds[price.apiType]} ${credits === 1 ? 'credit' : 'credits'} for ${price.per.en}. Supports Idempotency-Key.`
}

function commonOf(endpoint: Endpoint, operation: Operation): Parameters {
  const { action, ...credentials } = endpoint.common as Parameters
  if (!action) return credentials
  return { ...credentials, action: { ...action, example: operation.actions.join(' / ') } }
}

function parameterTable(parameters: Parameters, language: Language): Html {
  const rows = Object.entries(parameters).map(([name, parameter]) => [
    nameCode(name),
    typeNames[parameter.type][language],
    words[parameter.required ? 'yes' : 'no'][language],
    html`${describeParameter(parameter)[language]}${name === 'action' ? html`${colon[language]}<code>${String(parameter.example)}</code>` : ''}`,
  ])
  const heading = [words.name, words.type, words.required, words.meaning].map((word) => word[language])
  return table(heading, rows)
}

function responseTable(response: TSchema, language: Language): Html {
  const heading = [words.field, words.type, words.meaning].map((word) => word[language])
  return table(heading, propertyRows(response as ResponseSchema, '', language))
}

/** Nested fields with their full path: `data.all_urls[].url`. */
function propertyRows(schema: ResponseSchema, path: string, language: Language): Html[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, one]) => {
    const values = one.items?.enum ?? one.enum ?? []
    const row = [
      nameCode(path + name),
      html`${typeNames[typeOf(one)][language]}`,
      html`${one.text?.[language] ?? ''}${values.length > 1 ? html`${colon[language]}${codes(values)}` : ''}${
        schema.required?.includes(name) ? '' : words.mayBeAbsent[language]
      }`,
    ]
    const nested = one.items
      ? propertyRows(one.items, `${path}${name}[].`, language)
      : propertyRows(one, `${path}${name}.`, language)
    return [row, ...nested]
  })
}

function typeOf({ type, properties, anyOf }: ResponseSchema): keyof typeof typeNames {
  const one = anyOf?.find((choice) => choice.type !== 'null')
  if (one) return typeOf(one)
  if (type === 'array') return 'list'
  if (type === undefined || type === 'null') return 'string'
  return type === 'object' && !properties ? 'map' : type
}

function codes(values: readonly (string | number | boolean)[]): Html {
  return html`${values.map((value, index) => html`${index > 0 ? ' ' : ''}<code>${String(value)}</code>`)}`
}

function errorTable(endpoint: Endpoint, { errors }: OperationReference, language: Language): Html {
  if (endpoint.shape === 'shortlink') {
    return table(
      ['HTTP', words.when[language]],
      errors.map((one) => [one.status, one.when[language]]),
    )
  }
  return table(
    ['code', 'HTTP', words.when[language]],
    errors.map((one) => [one.code, one.status, one.when[language]]),
  )
}

function exampleBlock(endpoint: Endpoint, operation: Operation, example: Example, language: Language): Html {
  const body = exampleBody(endpoint, operation, example)
  return html`<details class="example">
    <summary>${example.title[language]}<span class="status">HTTP ${example.status}</span></summary>
    ${codeBlock(`POST ${endpoint.path}\n${JSON.stringify(body, null, 2)}`)}
    ${codeBlock(JSON.stringify(example.response, null, 2), 'json')}
  </details>`
}

function samples(
  anchor: string,
  endpoint: Endpoint,
  operation: Operation,
  reference: OperationReference,
  { publicUrl }: DocsContext,
): Html {
  const [example] = reference.examples
  if (!example) return html``
  const values = exampleBody(endpoint, operation, example)
  return tabs(
    anchor,
    sampleLanguages.map((one) => ({
      id: one,
      name: sampleLanguageNames[one],
      body: codeBlock(sample(one, { baseUrl: publicUrl, endpoint, values }), one),
    })),
  )
}
