// The identity verification endpoint and its messages. The API key alone identifies the caller.
import { credentialParameters, type Endpoint } from './endpoint.ts'
import type { Text } from './text.ts'

export const identity = {
  name: 'identity',
  path: '/api/id_verification_api.php',
  methods: ['GET', 'POST'],
  shape: 'identity',
  readsForms: true,
  common: { api_key: credentialParameters.api_key },
  operations: {
    verify: {
      actions: [],
      scope: 'id_verification:write',
      text: { zh: '核验姓名与身份证号', en: 'Verify that a name and an ID number match' },
      parameters: {
        name: {
          type: 'string',
          required: true,
          minLength: 2,
          maxLength: 50,
          text: { zh: '姓名', en: 'Name' },
          example: '张三',
        },
        idcard: {
          type: 'string',
          required: true,
          minLength: 18,
          maxLength: 18,
          pattern: '^\\d{17}[\\dXx]$',
          text: { zh: '身份证号', en: 'National ID number' },
          example: '11010519491231002X',
        },
      },
    },
  },
} as const satisfies Endpoint

/** Input methods produce all of these as the separator in a name; the register uses only U+00B7. */
export const middleDots = '\u2022\u2027\u2219\u22C5\u2E31\u30FB\uFF65'

/** The no-break space and the ideographic space count as spaces. */
export const nameSpaces = ' \u00A0\u3000'

const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
const checkDigits = '10X98765432'

/** The last character of an ID number (GB 11643), from the first 17. */
export function checkDigitOf(number: string): string {
  const sum = weights.reduce((total, weight, index) => total + weight * Number(number[index]), 0)
  return checkDigits[sum % 11] ?? ''
}

/** Names of `extra`. Gateways map the names of their providers to these. */
export const extraKeys = [
  'sex',
  'birthday',
  'address',
  'age',
  'nation',
  'province',
  'city',
  'district',
] as const

export type ExtraKey = (typeof extraKeys)[number]

export type Extra = Partial<Record<Exclude<ExtraKey, 'age'>, string>> & { age?: number }

export interface IdentityResponse {
  readonly success: boolean
  readonly message: string
  readonly matched: boolean
  readonly extra: Extra
}

export const identityMessages = {
  match: { zh: '验证通过', en: 'Verified' },
  mismatch: { zh: '姓名与身份证号不一致', en: 'Name and ID number do not belong together' },
  noRecord: {
    zh: '查无记录：核验源中没有该身份证号的信息，额度已退回',
    en: 'No record: the source has no data about this ID number; the credit was refunded',
  },
  /** Prefix of every upstream failure. */
  failedPrefix: { zh: '上游核验失败：', en: 'Upstream verification failed: ' },
} as const satisfies Record<string, Text>
