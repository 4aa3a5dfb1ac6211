// The four paid calls of a customer, and the outcome of each response.
import type { ApiType } from '../../contract/credits.ts'
import { domainCheck } from '../../contract/domain-check.ts'
import { identity } from '../../contract/identity.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import type { Reply } from '../support/service.ts'
import type { Random } from './random.ts'

export const templateCode = 'FAULT'

export interface Customer {
  readonly id: number
  readonly username: string
  readonly password: string
  /** The current API key; a fault may reset it. */
  key: string
}

export interface FaultCall {
  readonly apiType: ApiType
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** Unique for each call: target, phone number, ID number or first address. */
  readonly subject: string
  readonly cost: number
}

/**
 * `success`: charged. `failed`: no result; the charge is refunded, or held until it is decided.
 * `refused`: nothing was charged. `running`: the first request is still in progress. `unknown`: an error that does not
 * say whether the call succeeded.
 */
export type CallOutcome = 'success' | 'failed' | 'refused' | 'running' | 'unknown'

export function createCall(random: Random, number: number): FaultCall {
  const draw = random.next()
  if (draw < 0.35) return linkCall(number)
  if (draw < 0.65) return smsCall(number)
  if (draw < 0.85) return identityCall(number)
  return domainCall(number, random.between(1, 3))
}

function linkCall(number: number): FaultCall {
  const subject = `https://shop.example/item/${number}`
  return {
    apiType: 'short_link',
    path: shortlink.path,
    body: { action: 'generate', target_url: subject, title: `item ${number}` },
    subject,
    cost: 1,
  }
}

function smsCall(number: number): FaultCall {
  const subject = `13${String(number).padStart(9, '0')}`
  return {
    apiType: 'sms',
    path: sms.path,
    body: {
      action: 'send',
      template_code: templateCode,
      template_params: { code: String(number) },
      phone_number: subject,
    },
    subject,
    cost: 1,
  }
}

function identityCall(number: number): FaultCall {
  const subject = idNumber(number)
  return {
    apiType: 'id_verification',
    path: identity.path,
    body: { name: '张三', idcard: subject },
    subject,
    cost: 1,
  }
}

function domainCall(number: number, count: number): FaultCall {
  const urls = Array.from({ length: count }, (_, index) => `http://d${number}-${index}.example/`)
  return {
    apiType: 'domain_check',
    path: domainCheck.path,
    body: { urls },
    subject: urls[0]!,
    cost: count,
  }
}

/** Returns a different valid ID number for each call. */
function idNumber(number: number): string {
  const day = new Date(Date.UTC(1980, 0, 1) + Math.floor(number / 900) * 86_400_000)
  const body = `110105${day.toISOString().slice(0, 10).replaceAll('-', '')}${100 + (number % 900)}`
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
  const sum = weights.reduce((total, weight, index) => total + weight * Number(body[index]), 0)
  return body + '10X98765432'[sum % 11]
}

export function outcomeOf(call: FaultCall, { status, body }: Reply): CallOutcome {
  if (status === 409) return 'running'
  if (call.apiType === 'short_link') {
    if (status === 200 && body.success === true) return 'success'
    return status >= 500 ? 'unknown' : 'refused'
  }
  if (status === 200 && call.apiType === 'id_verification')
    return body.success === true ? 'success' : 'failed'
  if (status === 200) return 'success'
  if (body.code === 1005) return 'failed'
  return status >= 500 ? 'unknown' : 'refused'
}

/** Credits that a successful call cost. Failed addresses of a domain check are refunded. */
export function creditsSpent(call: FaultCall, { body }: Reply): number {
  if (call.apiType !== 'domain_check') return call.cost
  const results: readonly string[] = body.data.results
  return results.filter((result) => result !== '请求失败').length
}
