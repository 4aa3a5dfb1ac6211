// Rules of SMS: phone numbers, template variables, length, billed parts and biz_id.
import type { Text } from './text.ts'
import { dayMs, hourMs, shanghaiOffsetMs } from './time.ts'

/** Digits of a phone number. */
export const phoneLength = 11

/** Consumer number ranges of mainland China. Satellite (174), unassigned and IoT ranges are excluded. */
export const phonePattern = '^1(?:3\\d|4[5-9]|5[0-35-9]|6[2567]|7[0-35-8]|8\\d|9[0-35-9])\\d{8}$'

const phoneNumber = new RegExp(phonePattern)

/** Beside a field of the console. */
export const phoneRule: Text = {
  zh: '请输入 11 位中国内地手机号',
  en: 'Enter an 11-digit mobile number of mainland China',
}

export function isPhoneNumber(text: string): boolean {
  return phoneNumber.test(text)
}

export const templateStates = ['审核中', '审核通过', '审核不通过'] as const

export type TemplateState = (typeof templateStates)[number]

export const templateTypes = ['verification', 'notification', 'marketing'] as const

export type TemplateType = (typeof templateTypes)[number]

/** What proves the right to a signature. */
export const signatureTypes = ['company', 'trademark', 'app', 'website'] as const

export type SignatureType = (typeof signatureTypes)[number]

/** State of a signature or template at a vendor. `none`: not submitted. `failed`: not taken by the vendor, or not known. */
export const vendorReviewStates = ['none', 'waiting', 'reviewing', 'approved', 'refused', 'failed'] as const

export const maxSignaturesPerAccount = 50

/** Proof files of signatures: PNG, JPEG and PDF. */
export const proofLimits = {
  bytes: 700 * 1024,
  nameLength: 100,
  perSignature: 5,
  bytesPerAccount: 20 * 1_048_576,
} as const

/** Entries that account holders and operators add. Replies are always added. */
export const maxStopsPerAccount = 100_000

/** One-time codes of `send_code`. */
export const codeLimits = {
  attempts: 5,
  /** Seconds before another code may be sent to the same number for the same purpose. */
  pauseS: 60,
  purposeLength: 32,
} as const

/** States of a send record. `unknown`: it is not known yet whether the message was sent. */
export const sendStates = [
  'scheduled',
  'sending',
  'sent',
  'delivered',
  'failed',
  'unknown',
  'cancelled',
] as const

export type SendState = (typeof sendStates)[number]

/** Replies that unsubscribe a number. */
export const stopWords = ['退订', 'TD', 'T', 'N', 'R'] as const

export function isStopWord(reply: string): boolean {
  const word = reply.normalize('NFKC').trim().toUpperCase()
  return (stopWords as readonly string[]).includes(word)
}

export const maxReplyLength = 1_000

/** Marketing messages are sent from this hour on, and before the other one, in Shanghai. */
export const marketingHours = { from: 8, to: 21 } as const

export function isMarketingHour(now: number): boolean {
  const hour = new Date(now + shanghaiOffsetMs).getUTCHours()
  return hour >= marketingHours.from && hour < marketingHours.to
}

/** Length of signature, brackets and filled-in template, in UTF-16 code units as in the SMS itself. */
export const maxSmsLength = 500
const maxSinglePartLength = 70
const partLength = 67

export function wholeText(signName: string, text: string): string {
  return `【${signName}】${text}`
}

/** The number of billed parts. */
export function countParts(length: number): number {
  return length <= maxSinglePartLength ? 1 : Math.ceil(length / partLength)
}

/** The longest text that is billed as this number of parts. */
export function maxLengthForParts(parts: number): number {
  return parts === 1 ? maxSinglePartLength : parts * partLength
}

export const maxTemplateNameLength = 50
export const maxTemplateCodeLength = 64

const templateCode = new RegExp(`^[A-Za-z0-9_-]{1,${maxTemplateCodeLength}}$`)

export function isTemplateCode(code: string): boolean {
  return templateCode.test(code)
}

/** Names with a meaning for JavaScript objects. */
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const maxVariables = 30

export const maxVariableLength = 32
export const variablePattern = `[A-Za-z_][A-Za-z0-9_]{0,${maxVariableLength - 1}}`

const variableName = new RegExp(`^${variablePattern}$`)

/** From `${` to the next `}` or the end of the text. */
const placeholder = /\$\{([^}]*)(\}?)/g

export type ParsedTemplate = { readonly variables: readonly string[] } | { readonly problem: Text }

/** Names of the variables in the order of their first appearance. */
export function parseTemplate(content: string): ParsedTemplate {
  const variables = new Set<string>()
  for (const [, name = '', close] of content.matchAll(placeholder)) {
    if (close === '' || !variableName.test(name) || forbiddenNames.has(name)) {
      const shown = name.slice(0, maxVariableLength)
      return {
        problem: {
          zh: `变量 \${${shown}} 无效：以字母或下划线开头，只含字母、数字、下划线，最多 ${maxVariableLength} 个字符`,
          en: `the variable \${${shown}} is not valid: a letter or _, then letters, digits or _, ${maxVariableLength} at most`,
        },
      }
    }
    variables.add(name)
  }
  if (variables.size > maxVariables) {
    return {
      problem: {
        zh: `变量最多 ${maxVariables} 个`,
        en: `a template has ${maxVariables} variables at most`,
      },
    }
  }
  return { variables: [...variables] }
}

/** Values that look like variables are not replaced. */
export function fillTemplate(content: string, values: ReadonlyMap<string, string>): string {
  return content.replace(placeholder, (whole, name: string) => values.get(name) ?? whole)
}

/** The length of a template without its variables, and how often each of them occurs. */
export function measureTemplate(content: string): {
  readonly length: number
  readonly uses: ReadonlyMap<string, number>
} {
  const uses = new Map<string, number>()
  for (const [, name = ''] of content.matchAll(placeholder)) uses.set(name, (uses.get(name) ?? 0) + 1)
  return { length: content.replace(placeholder, '').length, uses }
}

/** Variables without a value and values without a variable. */
export function compareVariables(
  variables: readonly string[],
  values: ReadonlyMap<string, string>,
): { readonly missing: readonly string[]; readonly surplus: readonly string[] } {
  return {
    missing: variables.filter((name) => !values.has(name)),
    surplus: [...values.keys()].filter((name) => !variables.includes(name)),
  }
}

/** 18 digits that contain the record ID: unique and increasing. */
export function bizIdOf(recordId: number): string {
  return `1${String(recordId).padStart(17, '0')}`
}

export function recordIdOf(bizId: string): number | undefined {
  if (!/^1\d{17}$/.test(bizId)) return undefined
  const id = Number(bizId.slice(1))
  return Number.isSafeInteger(id) && id > 0 ? id : undefined
}

/** 18 digits that contain the number of the batch. */
export function batchIdOf(id: number): string {
  return `2${String(id).padStart(17, '0')}`
}

export function batchNumberOf(batchId: string): number | undefined {
  if (!/^2\d{17}$/.test(batchId)) return undefined
  const id = Number(batchId.slice(1))
  return Number.isSafeInteger(id) && id > 0 ? id : undefined
}

export const maxBatchMessages = 1_000

/** Files of recipients. The console reads them in the browser and sends their rows in batches. */
export const recipientFileLimits = {
  bytes: 20 * 1_048_576,
  /** An XLSX file unpacks to at most this. */
  unpackedBytes: 128 * 1_048_576,
  rows: 100_000,
  columns: 100,
  cellLength: maxSmsLength,
} as const

export const batchStates = ['waiting', 'sending', 'finished', 'cancelled'] as const

export type BatchState = (typeof batchStates)[number]

/** How far ahead `send_at` may be. */
export const maxSendAheadDays = 30

/** The time itself if marketing messages may be sent then, else the next time when they may. */
export function marketingTime(ms: number): number {
  if (isMarketingHour(ms)) return ms
  const local = ms + shanghaiOffsetMs
  const day = Math.floor(local / dayMs) * dayMs
  const isEarly = local - day < marketingHours.from * hourMs
  return (isEarly ? day : day + dayMs) + marketingHours.from * hourMs - shanghaiOffsetMs
}
