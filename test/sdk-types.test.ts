// The types of the SDK equal the contract. The type checker compares parameters and responses.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { statusOfCode } from '../contract/codes.ts'
import type { ApiType } from '../contract/credits.ts'
import type { CheckResult, domainCheck } from '../contract/domain-check.ts'
import type { identity } from '../contract/identity.ts'
import type { Parameters } from '../contract/parameters.ts'
import { documentedEndpoints } from '../contract/reference/interface.ts'
import type { checkedDomains } from '../contract/reference/domain-check.ts'
import type { identityResponse } from '../contract/reference/identity.ts'
import type {
  generatedLink,
  linkDetails,
  refreshedLink,
  updatedLink,
} from '../contract/reference/shortlink.ts'
import type { checkedCode, sentCode } from '../contract/reference/sms-codes.ts'
import type { smsReply } from '../contract/reference/sms-replies.ts'
import type { smsSignature } from '../contract/reference/sms-signatures.ts'
import type {
  deletedLink,
  generatedLinks,
  linkStateChange,
  linkStats,
} from '../contract/reference/shortlink-more.ts'
import type { creditBalance, sentSms, smsRecord, smsTemplate } from '../contract/reference/sms.ts'
import type { shortlink } from '../contract/shortlink.ts'
import type { sms } from '../contract/sms.ts'
import { codes } from '../sdk/node/src/errors.ts'
import type * as sdk from '../sdk/node/src/types.ts'
import { root } from './support/root.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never

type RequiredNames<P extends Parameters> = {
  [K in keyof P]: P[K]['required'] extends true ? K : never
}[keyof P]
type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** The same names, and the same names required. */
type SameParameters<T, P extends Parameters> = Same<keyof T, keyof P> &
  Same<Exclude<keyof T, OptionalKeys<T>>, RequiredNames<P>>

type Frozen<T> = T extends (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T

/** The same names with the same types. */
type SameResponse<T, S> = Same<keyof T, keyof S> & Same<T, Frozen<S>>

const parameters: {
  generate: SameParameters<sdk.GenerateLink, (typeof shortlink.operations.generate)['parameters']>
  update: SameParameters<sdk.UpdateLink, (typeof shortlink.operations.update)['parameters']>
  generateBatch: SameParameters<sdk.GenerateLinks, (typeof shortlink.operations.generate_batch)['parameters']>
  list: SameParameters<sdk.ListLinks, (typeof shortlink.operations.list)['parameters']>
  stats: SameParameters<sdk.LinkStatsQuery, (typeof shortlink.operations.stats)['parameters']>
  refresh: SameParameters<sdk.RefreshLink, (typeof shortlink.operations.execute_update)['parameters']>
  get: Same<keyof sdk.GetLink, keyof (typeof shortlink.operations.get)['parameters']>
  send: SameParameters<sdk.SendSms, (typeof sms.operations.send)['parameters']>
  credits: SameParameters<sdk.CreditsQuery, (typeof sms.operations.credits)['parameters']>
  sendCode: SameParameters<sdk.SendCode, (typeof sms.operations.sendCode)['parameters']>
  checkCode: SameParameters<sdk.CheckCode, (typeof sms.operations.checkCode)['parameters']>
  replies: SameParameters<sdk.SmsRepliesQuery, (typeof sms.operations.replies)['parameters']>
  logs: SameParameters<sdk.SmsLogsQuery, (typeof sms.operations.logs)['parameters']>
  verify: SameParameters<sdk.VerifyIdentity, (typeof identity.operations.verify)['parameters']>
  check: SameParameters<sdk.CheckDomains, (typeof domainCheck.operations.check)['parameters']>
  apiType: Same<sdk.ApiType, ApiType>
  results: Same<sdk.CheckResult, CheckResult>
} = {
  generate: true,
  update: true,
  generateBatch: true,
  list: true,
  stats: true,
  refresh: true,
  get: true,
  send: true,
  credits: true,
  sendCode: true,
  checkCode: true,
  replies: true,
  logs: true,
  verify: true,
  check: true,
  apiType: true,
  results: true,
}

const responses: {
  generate: SameResponse<sdk.GeneratedLink, Static<typeof generatedLink>>
  update: SameResponse<sdk.UpdatedLink, Static<typeof updatedLink>>
  generateBatch: SameResponse<sdk.GeneratedLinks, Static<typeof generatedLinks>>
  stats: SameResponse<sdk.LinkStats, Static<typeof linkStats>>
  pause: SameResponse<sdk.LinkStateChange, Static<typeof linkStateChange>>
  delete: SameResponse<sdk.DeletedLink, Static<typeof deletedLink>>
  refresh: SameResponse<sdk.RefreshedLink, Static<typeof refreshedLink>>
  get: SameResponse<sdk.Link, Static<typeof linkDetails>>
  send: SameResponse<sdk.SentSms, Static<typeof sentSms>>
  templates: SameResponse<sdk.SmsTemplate, Static<typeof smsTemplate>>
  credits: SameResponse<sdk.Credits, Static<typeof creditBalance>>
  signatures: SameResponse<sdk.SmsSignature, Static<typeof smsSignature>>
  sendCode: SameResponse<sdk.SentCode, Static<typeof sentCode>>
  checkCode: SameResponse<sdk.CheckedCode, Static<typeof checkedCode>>
  replies: SameResponse<sdk.SmsReply, Static<typeof smsReply>>
  logs: SameResponse<sdk.SmsRecord, Static<typeof smsRecord>>
  verify: SameResponse<sdk.IdentityOutcome, Static<typeof identityResponse>>
  extra: SameResponse<sdk.IdentityOutcome['extra'], Static<typeof identityResponse>['extra']>
  check: SameResponse<sdk.CheckedDomains, Static<typeof checkedDomains>>
} = {
  generate: true,
  update: true,
  generateBatch: true,
  stats: true,
  pause: true,
  delete: true,
  refresh: true,
  get: true,
  send: true,
  templates: true,
  credits: true,
  signatures: true,
  sendCode: true,
  checkCode: true,
  replies: true,
  logs: true,
  verify: true,
  extra: true,
  check: true,
}

/** The groups of the clients, by endpoint. */
const groups: Readonly<Record<string, string>> = {
  shortlink: 'shortlink',
  sms: 'sms',
  identity: 'identity',
  'domain-check': 'domains',
}

test('the cases of all clients call every operation of the contract with success', () => {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const operations = documentedEndpoints.flatMap(({ endpoint }) =>
    Object.keys(endpoint.operations).map((name) => `${groups[endpoint.name]}.${snake(name)}`),
  )
  const { cases } = JSON.parse(readFileSync(join(root, 'sdk/cases.json'), 'utf8')) as {
    cases: { readonly steps: readonly { readonly call: string; readonly result?: unknown }[] }[]
  }
  const called = cases.flatMap(({ steps }) => steps.flatMap((step) => ('result' in step ? [step.call] : [])))
  assert.deepEqual([...new Set(called)].toSorted(), [...operations, 'webhooks.verify'].toSorted())
})

test('the SDK has the parameters, responses and codes of the contract', () => {
  assert.ok([...Object.values(parameters), ...Object.values(responses)].every(Boolean))
  assert.deepEqual(
    new Set<number>([0, ...Object.values(codes)]),
    new Set(Object.keys(statusOfCode).map(Number)),
  )
})
