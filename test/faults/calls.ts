// The four paid calls as a customer makes them, and what each kind of answer means to the one who pays.
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
  /** The present key; a fault may change it. */
  key: string
}

export interface Wish {
  readonly apiType: ApiType
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** What no other call asks for: target, phone number, ID number, first address. */
  readonly subject: string
  readonly cost: number
}

/**
 * `success`: paid for. `failed`: a definite end without the goods; credits back, or held until it is decided.
 * `refused`: nothing was charged. `running`: come again. `unknown`: an error that leaves open what happened.
 */
export type Meaning = 'success' | 'failed' | 'refused' | 'running' | 'unknown'

export function makeWish(random: Random, number: number): Wish {
  const draw = random.next()
  if (draw < 0.35) return linkWish(number)
  if (draw < 0.65) return smsWish(number)
  if (draw < 0.85) return identityWish(number)
  return domainWish(number, random.between(1, 3))
}

function linkWish(number: number): Wish {
  const subject = `https://shop.example/item/${number}`
  return {
    apiType: 'short_link',
    path: shortlink.path,
    body: { action: 'generate', target_url: subject, title: `item ${number}` },
    subject,
    cost: 1,
  }
}

function smsWish(number: number): Wish {
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

function identityWish(number: number): Wish {
  const subject = idNumber(number)
  return {
    apiType: 'id_verification',
    path: identity.path,
    body: { name: '张三', idcard: subject },
    subject,
    cost: 1,
  }
}

function domainWish(number: number, count: number): Wish {
  const urls = Array.from({ length: count }, (_, index) => `http://d${number}-${index}.example/`)
  return {
    apiType: 'domain_check',
    path: domainCheck.path,
    body: { urls },
    subject: urls[0]!,
    cost: count,
  }
}

/** A well-formed number of its own for each call. */
export function idNumber(number: number): string {
  const day = new Date(Date.UTC(1980, 0, 1) + Math.floor(number / 900) * 86_400_000)
  const body = `110105${day.toISOString().slice(0, 10).replaceAll('-', '')}${100 + (number % 900)}`
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
  const sum = weights.reduce((total, weight, place) => total + weight * Number(body[place]), 0)
  return body + '10X98765432'[sum % 11]
}

export function meaningOf(wish: Wish, { status, body }: Reply): Meaning {
  if (status === 409) return 'running'
  if (wish.apiType === 'short_link') {
    if (status === 200 && body.success === true) return 'success'
    return status >= 500 ? 'unknown' : 'refused'
  }
  if (status === 200 && wish.apiType === 'id_verification')
    return body.success === true ? 'success' : 'failed'
  if (status === 200) return 'success'
  if (body.code === 1005) return 'failed'
  return status >= 500 ? 'unknown' : 'refused'
}

/** What a success cost: failed addresses of a domain check are given back. */
export function spentOn(wish: Wish, { body }: Reply): number {
  if (wish.apiType !== 'domain_check') return wish.cost
  const results: readonly string[] = body.data.results
  return results.filter((result) => result !== '请求失败').length
}
