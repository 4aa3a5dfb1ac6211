// Settings of SMS and its gateways.
import type { Text } from '../../contract/text.ts'
import {
  daysOrForever,
  gatewayList,
  integer,
  numberLimits,
  optionalChoice,
  optionalHeaderText,
  optionalText,
  optionalUrl,
  pathSecret,
  setting,
  signName,
} from '../setting-parsers.ts'

function receiptSecretText(zh: string, en: string): Text {
  return {
    zh: `${zh}回执地址的密钥，优先于 SMS_RECEIPT_SECRET`,
    en: `Secret in the receipt URL of ${en}, instead of SMS_RECEIPT_SECRET`,
  }
}

export const smsSettings = {
  SMS_GATEWAYS: setting(gatewayList('sandbox', 'aliyun', 'tencent', 'http'), ['sandbox'], {
    zh: '短信网关，按优先顺序',
    en: 'SMS gateways in order of preference',
  }),
  SMS_NUMBER_LIMITS: setting(numberLimits, [], {
    zh: '每个手机号的发送上限，全平台各账户合计，例如 1/m,5/h,10/d',
    en: 'Limits of messages to one phone number, from all accounts together, e.g. 1/m,5/h,10/d',
  }),
  SMS_QUEUE_LIMIT: setting(integer(1_000, 10_000_000), 200_000, {
    zh: '每个账户等待发送的群发短信上限',
    en: 'Maximum number of batch messages that may wait, per account',
  }),
  SMS_RETRY_S: setting(integer(0, 3_600), 60, {
    zh: '群发短信确定未发出时的重试时长（秒），之后退回额度；0 表示不重试',
    en: 'How long a message of a batch that was provably not sent is tried again, in seconds; 0: not at all',
  }),
  SMS_SIGN_NAME: setting(signName, 'Tollgate', { zh: '平台短信签名', en: 'SMS signature of the platform' }),
  SMS_SIGNATURES: setting(optionalChoice('approved', 'any'), undefined, {
    zh: '可用的签名：approved 为平台签名与账户已通过审核的签名，any 不限；默认在配置真实网关时为 approved，只用沙箱时为 any',
    en: 'Usable signatures: approved allows the signature of the platform and the approved ones of the account, any allows all; by default approved with a real gateway, any with the sandbox only',
  }),
  SMS_RECORD_DAYS: setting(daysOrForever(150), 0, {
    zh: '短信发送记录保留的天数；至少 150，0 表示永久保留',
    en: 'Retention of SMS records in days; at least 150, 0 keeps them indefinitely',
  }),
  SMS_RECEIPT_SECRET: setting(
    pathSecret,
    undefined,
    {
      zh: '回执地址中的密钥部分，所有网关相同；不设置则由本部署的密钥派生，每个网关各不相同',
      en: 'The secret part of all receipt URLs; by default derived from the installation secret, a different one for each gateway',
    },
    'secret',
  ),
  SMS_RECEIPT_SECRET_ALIYUN: setting(pathSecret, undefined, receiptSecretText('阿里云', 'Aliyun'), 'secret'),
  SMS_RECEIPT_SECRET_TENCENT: setting(
    pathSecret,
    undefined,
    receiptSecretText('腾讯云', 'Tencent'),
    'secret',
  ),
  SMS_RECEIPT_SECRET_HTTP: setting(
    pathSecret,
    undefined,
    receiptSecretText('通用 HTTP 网关', 'the generic HTTP gateway'),
    'secret',
  ),
  ALIYUN_SMS_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://dysmsapi.aliyuncs.com/', {
    zh: '阿里云短信地址',
    en: 'URL of Aliyun SMS',
  }),
  ALIYUN_SMS_QUALIFICATION_ID: setting(optionalHeaderText, undefined, {
    zh: '阿里云短信资质 ID，提交签名审核时使用',
    en: 'Aliyun SMS qualification ID, for submitting signatures',
  }),
  TENCENT_SMS_APP_ID: setting(optionalHeaderText, undefined, {
    zh: '腾讯云短信应用 ID',
    en: 'Tencent SmsSdkAppId',
  }),
  TENCENT_SMS_QUALIFICATION_ID: setting(optionalHeaderText, undefined, {
    zh: '腾讯云短信资质 ID，提交签名审核时使用',
    en: 'Tencent SMS qualification ID, for submitting signatures',
  }),
  TENCENT_SMS_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://sms.tencentcloudapi.com/', {
    zh: '腾讯云短信地址',
    en: 'URL of Tencent SMS',
  }),
  SMS_HTTP_URL: setting(optionalUrl(['http:', 'https:']), undefined, {
    zh: '通用 HTTP 短信网关地址',
    en: 'URL of the generic HTTP SMS gateway',
  }),
  SMS_HTTP_SECRET: setting(
    optionalText,
    undefined,
    {
      zh: '通用 HTTP 短信网关签名密钥',
      en: 'Signing secret of the generic HTTP SMS gateway',
    },
    'secret',
  ),
} as const

/** What each gateway cannot work without. */
export const smsRequirements = {
  aliyun: ['ALIYUN_ACCESS_KEY_ID', 'ALIYUN_ACCESS_KEY_SECRET'],
  tencent: ['TENCENT_SECRET_ID', 'TENCENT_SECRET_KEY', 'TENCENT_SMS_APP_ID'],
  http: ['SMS_HTTP_URL', 'SMS_HTTP_SECRET'],
} as const
