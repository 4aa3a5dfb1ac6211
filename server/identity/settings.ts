// Settings of identity verification and its gateways.
import {
  choice,
  gatewayList,
  integer,
  optionalHeaderText,
  optionalUrl,
  setting,
  type SettingValues,
} from '../setting-parsers.ts'
import { parseMarketShape } from './gateways/market-shape.ts'

export const identitySettings = {
  IDENTITY_GATEWAYS: setting(gatewayList('sandbox', 'aliyun', 'tencent', 'market'), ['sandbox'], {
    zh: '身份核验网关，按优先顺序',
    en: 'Identity gateways in order of preference',
  }),
  IDENTITY_RECORD_DAYS: setting(integer(1, 3_650), 180, {
    zh: '核验记录（脱敏）保留天数',
    en: 'Retention of the masked verification records in days',
  }),
  IDENTITY_REPEAT_S: setting(integer(0, 2_592_000), 0, {
    zh: '同一账户在该秒数内重复核验同一人时，直接返回上次的结果；0 表示关闭',
    en: 'Seconds in which a repeated verification of the same person returns the last verdict; 0 turns it off',
  }),
  ALIYUN_IDENTITY_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://cloudauth.aliyuncs.com/', {
    zh: '阿里云实人认证地址',
    en: 'URL of Aliyun identity verification',
  }),
  TENCENT_IDENTITY_ENDPOINT: setting(
    optionalUrl(['http:', 'https:']),
    'https://faceid.tencentcloudapi.com/',
    {
      zh: '腾讯云人脸核身地址',
      en: 'URL of Tencent FaceID',
    },
  ),
  IDENTITY_MARKET_PRESET: setting(
    choice('', 'idcert', 'idenauthen', 'sxidcheck', 'kzidcardv1', 'custom'),
    '',
    {
      zh: '云市场接口预设；custom 用 IDENTITY_MARKET_SHAPE',
      en: 'Preset of the marketplace API; custom uses IDENTITY_MARKET_SHAPE',
    },
  ),
  IDENTITY_MARKET_SHAPE: setting(parseMarketShape, undefined, {
    zh: '自定义云市场接口的请求与判定表（JSON）',
    en: 'Request and verdict table of a marketplace API without a preset (JSON)',
  }),
  IDENTITY_MARKET_URL: setting(optionalUrl(['http:', 'https:']), undefined, {
    zh: '云市场接口完整地址',
    en: 'Full URL of the marketplace API',
  }),
  IDENTITY_MARKET_APPCODE: setting(
    optionalHeaderText,
    undefined,
    {
      zh: '云市场 AppCode',
      en: 'AppCode of the marketplace API',
    },
    'secret',
  ),
} as const

/** What each gateway cannot work without. */
export const identityRequirements = {
  aliyun: ['ALIYUN_ACCESS_KEY_ID', 'ALIYUN_ACCESS_KEY_SECRET'],
  tencent: ['TENCENT_SECRET_ID', 'TENCENT_SECRET_KEY'],
  market: ['IDENTITY_MARKET_PRESET', 'IDENTITY_MARKET_URL', 'IDENTITY_MARKET_APPCODE'],
} as const

export function identityProblems(config: SettingValues<typeof identitySettings>): string[] {
  if (config.IDENTITY_MARKET_PRESET !== 'custom' || config.IDENTITY_MARKET_SHAPE) return []
  return ['IDENTITY_MARKET_SHAPE 缺失，预设 custom 需要它 / is required by the preset custom']
}
