// Generates calls of the four endpoints from the parameters in the contract.
import fc, { type Arbitrary } from 'fast-check'
import { domainCheck } from '../../contract/domain-check.ts'
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import { identity } from '../../contract/identity.ts'
import type { Parameter } from '../../contract/parameters.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import {
  type ApiCase,
  type BodyKind,
  contentTypes,
  type CredentialKind,
  damage,
  headers,
  headerText,
  type ParameterLocation,
} from './case.ts'
import { hostileText, hostileValue } from './words.ts'

const fuzzedEndpoints: readonly Endpoint[] = [shortlink, sms, identity, domainCheck]

const locations: Arbitrary<ParameterLocation> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<ParameterLocation>('body') },
  { weight: 1, arbitrary: fc.constantFrom<ParameterLocation[]>('query', 'header') },
)

/** Valid values of parameters. Values for which the sandbox fails are missing, because 502 is then the correct response. */
const validValues: Readonly<Record<string, Arbitrary<unknown>>> = {
  phone_number: fc.constantFrom('13800138000', '13900139000', 13_700_137_000),
  template_code: fc.constantFrom('CODE', 'PLAIN', 'NOPE'),
  template_params: fc.oneof(
    hostileText.map((code) => ({ code })),
    fc.constantFrom({}, [], '{"code":"1"}', { code: 7 }, { code: '1', other: '2' }),
  ),
  target_url: fc.constantFrom('https://example.com/', 'https://例子.测试/', 'http://a.test:8080/?a=b#c'),
  link_id: fc.constantFrom(1, 2, '1', 999_999),
  redirect_type: fc.constantFrom('direct', 'permanent', 'page'),
  name: fc.constantFrom('张三', '不匹配', '无记录', '上游故障', 'Anna Lee'),
  idcard: fc.constantFrom('11010519491231002X', '11010519491231002x'),
  urls: fc.array(fc.constantFrom('example.com', 'blocked.test', 'down.test', 'http://1', ' '), {
    maxLength: 6,
  }),
  check_random: fc.constantFrom(true, false, '1', 'TRUE'),
  start_date: fc.constantFrom('2026-01-01', '2026-12-31'),
}

function valueOf(name: string, parameter: Parameter): Arbitrary<unknown> {
  const valid = validValues[name] ?? fc.constant(parameter.example ?? 'x')
  return fc.oneof({ weight: 7, arbitrary: valid }, { weight: 2, arbitrary: hostileValue })
}

function operationCase(endpoint: Endpoint, operation: Operation): Arbitrary<ApiCase> {
  const parameters = Object.entries(operation.parameters).map(([name, parameter]) =>
    fc
      .record({ value: valueOf(name, parameter), location: locations, omit: fc.nat(9) })
      .map(({ value, location, omit }) => (omit === 0 ? [] : [{ name, value, location }])),
  )
  const action = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...(operation.actions.length > 0 ? operation.actions : [''])) },
    { weight: 1, arbitrary: hostileValue },
  )
  const unknownParameters = fc.array(
    fc.record({ name: hostileText, value: hostileValue, location: locations }),
    {
      minLength: 1,
      maxLength: 2,
    },
  )
  const extra = fc.oneof(
    { weight: 7, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: unknownParameters },
  )
  return fc.record({
    kind: fc.constant('api' as const),
    endpoint: fc.constant(endpoint.path),
    method: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...endpoint.methods) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'),
      },
    ),
    credentials: fc.oneof(
      { weight: 12, arbitrary: fc.constant<CredentialKind>('valid') },
      {
        weight: 1,
        arbitrary: fc.constantFrom<CredentialKind[]>('otherAccount', 'malformed', 'none', 'hostile'),
      },
    ),
    credentialsIn: locations,
    bodyKind: fc.oneof(
      { weight: endpoint.readsForms ? 3 : 20, arbitrary: fc.constant<BodyKind>('json') },
      { weight: 1, arbitrary: fc.constantFrom<BodyKind[]>('form', 'multipart') },
    ),
    parameters: fc
      .tuple(fc.tuple(...parameters), fc.record({ value: action, location: locations }), extra)
      .map(([parts, { value, location }, others]) => [
        { name: 'action', value, location },
        ...parts.flat(),
        ...others,
      ]),
    contentType: fc.oneof(
      { weight: 12, arbitrary: fc.constant('matching') },
      { weight: 1, arbitrary: fc.constantFrom(...contentTypes) },
      { weight: 1, arbitrary: headerText },
    ),
    encoding: fc.oneof(
      { weight: 20, arbitrary: fc.constant('utf8' as const) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('bom' as const, 'utf16le' as const, 'latin1' as const, 'gzip' as const),
      },
    ),
    chunked: fc.boolean(),
    headers,
    damage,
  })
}

export const apiCase: Arbitrary<ApiCase> = fc.oneof(
  ...fuzzedEndpoints.flatMap((endpoint) =>
    Object.values(endpoint.operations).map((operation) => operationCase(endpoint, operation)),
  ),
)
