// Generates calls of every console route with the fields of any route.
import fc, { type Arbitrary } from 'fast-check'
import { creditRoutes } from '../../contract/console/credits.ts'
import { eventRoutes } from '../../contract/console/events.ts'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { homeRoutes } from '../../contract/console/home.ts'
import { identityRoutes } from '../../contract/console/identity.ts'
import { keyRoutes } from '../../contract/console/key.ts'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { requestRoutes, searchRoutes } from '../../contract/console/requests.ts'
import type { Route } from '../../contract/console/route.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { type ConsoleCase, contentTypes, damage, headers } from './case.ts'
import { hostileText, hostileValue } from './words.ts'

const routes: readonly Pick<Route<unknown, unknown>, 'method' | 'path'>[] = [
  sessionRoutes,
  homeRoutes,
  keyRoutes,
  creditRoutes,
  requestRoutes,
  searchRoutes,
  operatorRoutes,
  operatorProductRoutes,
  linkRoutes,
  smsRoutes,
  identityRoutes,
  domainCheckRoutes,
  eventRoutes,
].flatMap((group) => Object.values(group) as Route<unknown, unknown>[])

const validFields: Readonly<Record<string, Arbitrary<unknown>>> = {
  username: fc.constantFrom('nobody', 'admin', 'newcomer'),
  password: fc.constantFrom('wrong password', '12345678'),
  current_password: fc.constant('wrong password'),
  new_password: fc.constant('quite another 77'),
  code: fc.constantFrom('TG-AAAA-BBBB-CCCC-DDDD', 'CODE', '1002'),
  note: fc.constantFrom('why', ' '),
  api_type: fc.constantFrom('sms', 'short_link', 'gold'),
  direction: fc.constantFrom('grant', 'take'),
  amount: fc.constantFrom<unknown[]>(1, 5, 0, -1, 1.5, '@@number:1e309@@', 2 ** 53, 1_000_000_001),
  count: fc.constantFrom<unknown[]>(1, 2, 0, '@@number:1e309@@'),
  credits: fc.constantFrom({ sms: 1 }, { sms: -1 }, { sms: 1e308, gold: 1 }, []),
  expires_on: fc.constantFrom('2030-01-01', '2026-02-30', null),
  suspended: fc.constantFrom(false, 'yes'),
  sms_enabled: fc.boolean(),
  sign_name: fc.constantFrom('签名', '', null, '【】'),
  rate_limit: fc.constantFrom({ per_second: 1, burst: 2 }, { per_second: 0, burst: -1 }, null),
  name: fc.constantFrom('张三', 'x'),
  content: fc.constantFrom('您的验证码是${code}。', '${'),
  idcard: fc.constant('11010519491231002X'),
  phone_number: fc.constant('13800138000'),
  template_code: fc.constant('CODE'),
  template_params: fc.constantFrom({ code: '1' }, {}),
  urls: fc.constantFrom(['example.com'], ['a', 'b'], 'example.com'),
  target_url: fc.constant('https://example.com/'),
  title: fc.constant('title'),
  from: fc.constantFrom('2026-01-01', '2026-11-15', '2026-13-45'),
  to: fc.constantFrom('2026-11-15', '1970-01-01'),
  page: fc.constantFrom('1', '0', '100001'),
  size: fc.constantFrom('1', '200', '201'),
  before: fc.constantFrom('1', '9007199254740991', '9007199254740993'),
  after: fc.constantFrom('0', '-1'),
  q: fc.constantFrom('x', '%', '13800138000'),
  sort: fc.constantFrom('created', 'username', 'nothing'),
  order: fc.constantFrom('asc', 'desc'),
  state: fc.constantFrom('active', '审核中'),
  endpoint: fc.constantFrom('sms', 'x'),
  outcome: fc.constantFrom('ok', 'error'),
  unit: fc.constantFrom('day', 'hour'),
  view_as: fc.constantFrom('1', '2', '999999', 'x'),
  role: fc.constant('operator'),
  remaining: fc.constant(1_000_000),
  account_id: fc.constant(1),
}

const names = Object.keys(validFields)

const field = fc
  .constantFrom(...names)
  .chain((name) =>
    fc
      .oneof({ weight: 3, arbitrary: validFields[name]! }, { weight: 2, arbitrary: hostileValue })
      .map((value) => [name, value] as const),
  )

const consoleBody = fc.oneof(
  { weight: 8, arbitrary: fc.array(field, { maxLength: 8 }).map((pairs) => Object.fromEntries(pairs)) },
  { weight: 1, arbitrary: hostileValue },
)

const queryPairs = fc
  .array(field, { maxLength: 5 })
  .map((pairs) => Object.fromEntries(pairs.map(([name, value]) => [name, shortText(value)])))

function shortText(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed().slice(0, 1_500)
}

export const consoleCase: Arbitrary<ConsoleCase> = fc.constantFrom(...routes).chain(({ method, path }) =>
  fc.record({
    kind: fc.constant('console' as const),
    route: fc.constant(path),
    method: fc.oneof(
      { weight: 15, arbitrary: fc.constant<string>(method) },
      { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS') },
    ),
    who: fc.oneof(
      { weight: 4, arbitrary: fc.constant('account' as const) },
      { weight: 4, arbitrary: fc.constant('operator' as const) },
      { weight: 1, arbitrary: fc.constant('visitor' as const) },
    ),
    token: fc.oneof(
      { weight: 10, arbitrary: fc.constant('valid' as const) },
      { weight: 1, arbitrary: fc.constantFrom('invalid' as const, 'none' as const) },
    ),
    pathParameter: fc.oneof(
      { weight: 4, arbitrary: fc.constant('victim') },
      { weight: 2, arbitrary: hostileText.map((text) => text.toWellFormed().slice(0, 300)) },
      { weight: 1, arbitrary: fc.uuid() },
    ),
    query: queryPairs,
    body: consoleBody,
    contentType: fc.oneof(
      { weight: 12, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom(...contentTypes).map((type) => type ?? '') },
    ),
    headers,
    damage,
  }),
)
