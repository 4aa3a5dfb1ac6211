// The documented error codes: their HTTP status, what they mean and what to do.
import type { Text } from './text.ts'

export const statusOfCode = {
  0: 200,
  1001: 400,
  1002: 400,
  1003: 401,
  1004: 403,
  1005: 502,
  1006: 403,
  1007: 404,
  5000: 500,
  429: 429,
} as const

export type ErrorCode = Exclude<keyof typeof statusOfCode, 0>

export interface ErrorExplanation {
  readonly meaning: Text
  readonly advice: Text
}

/** In the order in which documents list them. */
export const errorCodes: readonly ErrorCode[] = [1001, 1002, 1003, 1004, 1005, 1006, 1007, 429, 5000]

export const errorExplanations: Readonly<Record<ErrorCode, ErrorExplanation>> = {
  1001: {
    meaning: { zh: '缺少必填参数', en: 'A required parameter is missing' },
    advice: {
      zh: '对照接口文档补全参数；消息中列出了全部缺失的名称',
      en: 'Add the parameters named in the message, which names all that are missing',
    },
  },
  1002: {
    meaning: { zh: '参数校验不通过', en: 'A parameter is invalid' },
    advice: {
      zh: '按消息指出的参数与原因修改请求',
      en: 'Correct the parameters that the message names',
    },
  },
  1003: {
    meaning: { zh: '用户名或密钥无效', en: 'The user name or the API key is invalid' },
    advice: {
      zh: '检查程序中的用户名与密钥；密钥重置后必须更换为新密钥',
      en: 'Check the user name and the key; after a reset, use the new key',
    },
  },
  1004: {
    meaning: {
      zh: '额度不足，或账户已过期、停用',
      en: 'Not enough credits, or the account is expired or suspended',
    },
    advice: {
      zh: '在“额度”页购买或兑换额度；账户过期请联系平台',
      en: 'Add credits on the Credits page; contact the platform if the account has expired',
    },
  },
  1005: {
    meaning: {
      zh: '操作失败，额度已退回或暂扣',
      en: 'The operation failed; the credits were refunded or are held',
    },
    advice: {
      zh: '原因见消息；偶尔出现可稍后重试，持续出现请联系平台',
      en: 'The message has the reason; retry later, or contact the platform if it happens again',
    },
  },
  1006: {
    meaning: { zh: '短信服务未开通', en: 'The SMS service is not enabled' },
    advice: { zh: '请联系平台开通短信服务', en: 'Ask the platform to enable it' },
  },
  1007: {
    meaning: {
      zh: '短信模板不存在或未通过审核',
      en: 'The SMS template does not exist or is not approved',
    },
    advice: {
      zh: '在“短信”页核对模板编号与审核状态',
      en: 'Check the code and the status of the template on the SMS page',
    },
  },
  429: {
    meaning: { zh: '请求过于频繁', en: 'Too many requests' },
    advice: {
      zh: '按 Retry-After 等待后重试，或联系平台提高限额',
      en: 'Wait as long as Retry-After says, or ask the platform for a higher limit',
    },
  },
  5000: {
    meaning: { zh: '系统内部错误', en: 'Internal error' },
    advice: {
      zh: '请稍后重试；持续出现请将请求编号提供给平台',
      en: 'Retry later; if it happens again, send the request ID to the platform',
    },
  },
}

/** Short link errors have no code, only the HTTP status. */
const shortlinkExplanations: Readonly<Record<number, ErrorExplanation>> = {
  400: {
    meaning: {
      zh: '参数有误、链接不存在、额度不足或账户已过期',
      en: 'Invalid parameters, no such link, not enough credits, or an expired account',
    },
    advice: { zh: '打开任一失败的请求查看消息', en: 'Open one of the calls and read its message' },
  },
  401: errorExplanations[1003],
  403: errorExplanations[1004],
}

/** Explains a code, or the HTTP status of a short link error. */
export function explainError(code: number): ErrorExplanation {
  const found = shortlinkExplanations[code] ?? errorExplanations[code as ErrorCode]
  return found ?? errorExplanations[code >= 400 && code < 500 ? 1002 : 5000]
}
