// The short link endpoint.
import { credentialParameters, type Endpoint } from './endpoint.ts'

/** Of a target in its ASCII form: by default nginx accepts 4 KiB of response headers from the service behind it. */
export const maxLocationLength = 3_500

/** `direct` responds with 302, `permanent` with 301, `page` with a page that shows the target and links to it. */
export const redirectTypes = ['direct', 'permanent', 'page'] as const

export type RedirectType = (typeof redirectTypes)[number]

/** The first that applies, in this order: `banned`, `paused`, `expired`, `exhausted`, else `active`. */
export const linkStates = ['active', 'paused', 'expired', 'exhausted', 'banned'] as const

export type LinkState = (typeof linkStates)[number]

export const linkLimits = {
  codeLength: { min: 3, max: 32 },
  maxClicks: 1_000_000_000,
  passwordLength: { min: 4, max: 64 },
  tags: 10,
  tagLength: 32,
  externalIdLength: 64,
  rules: 10,
  /** Values of one condition of a rule. */
  ruleValues: 50,
  batchLinks: 100,
} as const

/** What a rule can compare a visit with. Lists of values are complete; the others are given by their pattern. */
export const ruleConditions = {
  os: { values: ['ios', 'android', 'harmony', 'windows', 'macos', 'linux'] },
  device: { values: ['mobile', 'tablet', 'desktop'] },
  app: { values: ['wechat', 'qq', 'douyin', 'weibo', 'alipay', 'dingtalk', 'feishu'] },
  country: { pattern: '^[A-Z]{2}$' },
  province: { pattern: '^[A-Z]{2}$' },
  language: { pattern: '^[a-z]{2}$' },
} as const

export type RuleCondition = keyof typeof ruleConditions

export interface LinkRule {
  readonly when: Readonly<Partial<Record<RuleCondition, string | readonly string[]>>>
  readonly target_url: string
}

export const shortCodePattern = '^[2-9A-HJ-NP-Za-km-z]{7}$'

const url = { type: 'string', maxLength: 2_048 } as const
const title = { type: 'string', minLength: 1, maxLength: 200 } as const

const linkId = {
  type: 'integer',
  required: true,
  text: { zh: '短链接编号', en: 'ID of the short link' },
  example: 1,
} as const

export const shortlink = {
  name: 'shortlink',
  path: '/api/shortlink_api.php',
  methods: ['POST'],
  shape: 'shortlink',
  readsForms: false,
  common: {
    ...credentialParameters,
    action: {
      type: 'string',
      required: true,
      text: { zh: '操作类型', en: 'Operation' },
      example: 'generate',
    },
  },
  operations: {
    generate: {
      actions: ['generate'],
      scope: 'short_link:write',
      text: { zh: '生成短链接', en: 'Create a short link' },
      parameters: {
        target_url: {
          ...url,
          required: true,
          text: { zh: '目标地址', en: 'Target URL' },
          example: 'https://example.com/landing',
        },
        title: { ...title, required: true, text: { zh: '标题', en: 'Title' }, example: '活动页' },
        redirect_type: {
          type: 'string',
          required: false,
          enum: redirectTypes,
          default: 'direct',
          text: { zh: '跳转方式', en: 'Redirect type' },
          example: 'direct',
        },
        redirect_url_a: {
          ...url,
          required: false,
          text: {
            zh: 'a_url 的跳转地址，默认与目标地址相同',
            en: 'Target of a_url; defaults to target_url',
          },
          example: 'https://example.com/a',
        },
      },
    },
    update: {
      actions: ['update'],
      scope: 'short_link:write',
      text: { zh: '修改短链接', en: 'Update a short link' },
      parameters: {
        link_id: linkId,
        target_url: {
          ...url,
          required: true,
          text: { zh: '新的目标地址', en: 'New target URL' },
          example: 'https://example.com/new',
        },
        title: {
          ...title,
          required: false,
          text: { zh: '新的标题', en: 'New title' },
          example: '新标题',
        },
        redirect_url_a: {
          ...url,
          required: false,
          text: {
            zh: '新的 a_url 跳转地址（扩展参数），不传则不变',
            en: 'New target of a_url (an extension); unchanged when omitted',
          },
          example: 'https://example.com/a',
        },
      },
    },
    execute_update: {
      actions: ['execute_update'],
      scope: 'short_link:write',
      text: { zh: '刷新访问地址', en: 'Refresh the link addresses' },
      parameters: { link_id: linkId },
    },
    get: {
      actions: ['get'],
      scope: 'short_link:read',
      text: { zh: '查询短链接', en: 'Get a short link' },
      parameters: {
        short_code: {
          type: 'string',
          required: false,
          pattern: shortCodePattern,
          text: { zh: '短码，与 link_id 二选一', en: 'Short code; either this or link_id' },
          example: 'aBcD234',
        },
        link_id: { ...linkId, required: false },
      },
    },
  },
} as const satisfies Endpoint
