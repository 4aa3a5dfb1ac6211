// Explains the error codes of the public API: what they mean and what to do.
import type { Text } from '../../contract/text.ts'

export interface ErrorExplanation {
  readonly meaning: Text
  readonly advice: Text
}

const missing: ErrorExplanation = {
  meaning: { zh: '缺少必填参数', en: 'A required parameter is missing' },
  advice: {
    zh: '对照接口文档补全参数；消息中列出了全部缺失的名称',
    en: 'Add what the message names; it lists everything that is missing',
  },
}
const invalid: ErrorExplanation = {
  meaning: { zh: '参数有误', en: 'A parameter is wrong' },
  advice: {
    zh: '打开任一失败的请求，查看消息指出的参数',
    en: 'Open one of the calls and see which parameter is meant',
  },
}
const credentials: ErrorExplanation = {
  meaning: { zh: '用户名或密钥错误', en: 'Wrong user name or key' },
  advice: {
    zh: '检查程序中的用户名与密钥；密钥重置后须更换',
    en: 'Check user name and key; after a reset use the new key',
  },
}
const notAllowed: ErrorExplanation = {
  meaning: {
    zh: '额度不足，或账户已过期、停用',
    en: 'Not enough credits, or the account expired or is suspended',
  },
  advice: {
    zh: '在“额度”页充值或兑换；到期请联系平台',
    en: 'Top up on the credits page; ask the platform when it expired',
  },
}
const upstream: ErrorExplanation = {
  meaning: {
    zh: '上游处理失败，额度已退回或待定',
    en: 'The upstream failed; credits were given back or are held',
  },
  advice: {
    zh: '打开请求查看原因；偶发可稍后重试，持续请联系平台',
    en: 'Open a call for the reason; try again later, or ask the platform',
  },
}
const switchedOff: ErrorExplanation = {
  meaning: { zh: '短信服务未开通', en: 'SMS is not switched on' },
  advice: { zh: '请联系平台开通短信服务', en: 'Ask the platform to switch it on' },
}
const noTemplate: ErrorExplanation = {
  meaning: { zh: '模板不存在或未通过审核', en: 'The template does not exist or is not approved' },
  advice: {
    zh: '在“短信”页核对模板编号与审核状态',
    en: 'Check code and state of the template on the SMS page',
  },
}
const tooOften: ErrorExplanation = {
  meaning: { zh: '请求过于频繁', en: 'Too many requests' },
  advice: {
    zh: '按 Retry-After 放慢，或请平台提高限额',
    en: 'Slow down as Retry-After says, or ask for a higher limit',
  },
}
const internal: ErrorExplanation = {
  meaning: { zh: '系统内部错误', en: 'Internal error' },
  advice: {
    zh: '稍后重试；持续请把请求编号发给平台',
    en: 'Try again later; if it stays, send the request id to the platform',
  },
}
const linkProblem: ErrorExplanation = {
  meaning: {
    zh: '参数有误、链接不存在、额度不足或账户已过期',
    en: 'Wrong parameters, no such link, no credits, or the account expired',
  },
  advice: { zh: '打开任一失败的请求查看消息', en: 'Open one of the calls and read its message' },
}

const byCode: Readonly<Record<number, ErrorExplanation>> = {
  400: linkProblem,
  401: credentials,
  403: notAllowed,
  429: tooOften,
  500: internal,
  503: internal,
  1001: missing,
  1002: invalid,
  1003: credentials,
  1004: notAllowed,
  1005: upstream,
  1006: switchedOff,
  1007: noTemplate,
  5000: internal,
}

export function explainError(code: number): ErrorExplanation {
  return byCode[code] ?? (code >= 400 && code < 500 ? invalid : internal)
}
