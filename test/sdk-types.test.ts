// The SDK's types and the contract say the same. What is compared here is compared by the type checker.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusOfCode } from '../contract/codes.ts'
import type { ApiType } from '../contract/credits.ts'
import type { CheckResult, domainCheck } from '../contract/domain-check.ts'
import type { identity } from '../contract/identity.ts'
import type { Parameters } from '../contract/parameters.ts'
import type { shortlink } from '../contract/shortlink.ts'
import type { sms } from '../contract/sms.ts'
import type { Field } from '../contract/reference.ts'
import { documentedEndpoints } from '../contract/reference/interface.ts'
import { codes } from '../sdk/src/errors.ts'
import type * as sdk from '../sdk/src/types.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never

type RequiredNames<P extends Parameters> = {
  [K in keyof P]: P[K]['required'] extends true ? K : never
}[keyof P]
type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** The same names, and the same of them required. */
type Fits<T, P extends Parameters> = Same<keyof T, keyof P> &
  Same<Exclude<keyof T, OptionalKeys<T>>, RequiredNames<P>>

const fits: {
  generate: Fits<sdk.GenerateLink, (typeof shortlink.operations.generate)['parameters']>
  update: Fits<sdk.UpdateLink, (typeof shortlink.operations.update)['parameters']>
  refresh: Fits<sdk.RefreshLink, (typeof shortlink.operations.execute_update)['parameters']>
  get: Same<keyof sdk.GetLink, keyof (typeof shortlink.operations.get)['parameters']>
  send: Fits<sdk.SendSms, (typeof sms.operations.send)['parameters']>
  credits: Fits<sdk.CreditsQuery, (typeof sms.operations.credits)['parameters']>
  logs: Fits<sdk.SmsLogsQuery, (typeof sms.operations.logs)['parameters']>
  verify: Fits<sdk.VerifyIdentity, (typeof identity.operations.verify)['parameters']>
  check: Fits<sdk.CheckDomains, (typeof domainCheck.operations.check)['parameters']>
  apiType: Same<sdk.ApiType, ApiType>
  results: Same<sdk.CheckResult, CheckResult>
} = {
  generate: true,
  update: true,
  refresh: true,
  get: true,
  send: true,
  credits: true,
  logs: true,
  verify: true,
  check: true,
  apiType: true,
  results: true,
}

/** What each answer holds, by the SDK's types: a name left out or too many does not compile. */
const answers: {
  [K in keyof Answers]: readonly [Names<Answers[K]>, ...Names<Answers[K]>[]]
} = {
  shortlink_generate: ['link_id', 'short_code', 'a_url', 'b_url', 'remaining_balance'],
  shortlink_update: ['link_id', 'message'],
  shortlink_execute_update: [
    'link_id',
    'new_a_url',
    'new_b_url',
    'short_code',
    'remaining_balance',
    'message',
  ],
  shortlink_get: [
    'link_id',
    'short_code',
    'a_url',
    'b_url',
    'target_url',
    'title',
    'redirect_type',
    'redirect_url_a',
    'created_at',
    'clicks',
    'bot_clicks',
    'preview_clicks',
  ],
  sms_send: ['phone_number', 'biz_id', 'send_time', 'remaining_credits'],
  sms_templates: ['template_code', 'template_name', 'template_content', 'status'],
  sms_credits: ['api_type', 'api_type_name', 'total', 'used', 'remaining', 'percentage_used'],
  sms_logs: [
    'phone_number',
    'template_code',
    'template_params',
    'sign_name',
    'biz_id',
    'success',
    'created_at',
    'error_message',
  ],
  identity_verify: ['success', 'message', 'matched', 'extra'],
  'domain-check_check': ['all_urls', 'results', 'remaining_credits'],
}

interface Answers {
  shortlink_generate: sdk.GeneratedLink
  shortlink_update: sdk.UpdatedLink
  shortlink_execute_update: sdk.RefreshedLink
  shortlink_get: sdk.Link
  sms_send: sdk.SentSms
  sms_templates: sdk.SmsTemplate
  sms_credits: sdk.Credits
  sms_logs: sdk.SmsRecord
  identity_verify: sdk.IdentityOutcome
  'domain-check_check': sdk.CheckedDomains
}
type Names<T> = keyof T & string

test('the SDK has the parameters, answers and codes of the contract', () => {
  assert.ok(Object.values(fits).every(Boolean))
  for (const { endpoint, reference } of documentedEndpoints) {
    for (const [name, { answer }] of Object.entries(reference)) {
      const key = `${endpoint.name}_${name}` as keyof Answers
      assert.deepEqual([...answers[key]].toSorted(), Object.keys(dataFields(answer)).toSorted(), key)
    }
  }
  assert.deepEqual(
    new Set<number>([0, ...Object.values(codes)]),
    new Set(Object.keys(statusOfCode).map(Number)),
  )
})

function dataFields(answer: Field): Readonly<Record<string, Field>> {
  const data = answer.fields?.['data']
  return (data ? (data.items ?? data) : answer).fields ?? {}
}
