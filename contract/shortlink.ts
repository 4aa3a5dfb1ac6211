// The short link endpoint.
import { credentialParameters, type Endpoint } from './endpoint.ts'
import { analyticsLimits, statParts } from './link-analytics.ts'
import { ruleSchema } from './link-rules.ts'
import { pageParameters } from './paging.ts'
import { objectSchema } from './parameters.ts'

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
  /** Attempts at the password of one link in a minute: of one network, and of an IPv6 /48. */
  passwordAttempts: { perNetwork: 10, perSite: 40 },
  tags: 10,
  tagLength: 32,
  externalIdLength: 64,
  rules: 10,
  /** Values of one condition of a rule: as many as there are countries. */
  ruleValues: 250,
  batchLinks: 100,
  /** Links that `list` searches for one page. */
  searchedLinks: 100_000,
} as const

/** Generated codes have 7 characters without look-alikes; a chosen one may be any of these. */
export const shortCodePattern = `^[A-Za-z0-9][A-Za-z0-9_-]{${linkLimits.codeLength.min - 2},${linkLimits.codeLength.max - 2}}[A-Za-z0-9]$`

/** What `clear` of `update` removes. */
export const clearableFields = [
  'expires_at',
  'expired_url',
  'max_clicks',
  'password',
  'tags',
  'external_id',
  'rules',
  'redirect_url_a',
] as const

export type ClearableField = (typeof clearableFields)[number]

const url = { type: 'string', maxLength: 2_048 } as const
const title = { type: 'string', minLength: 1, maxLength: 200 } as const

const shortCode = {
  type: 'string',
  required: false,
  pattern: shortCodePattern,
  minLength: linkLimits.codeLength.min,
  maxLength: linkLimits.codeLength.max,
  example: 'summer-2026',
} as const

const redirectType = {
  type: 'string',
  required: false,
  enum: redirectTypes,
  example: 'direct',
} as const

/** Of `generate` and `update`. A link with `expires_at`, `max_clicks`, `password` or `rules` is never `permanent`. */
const options = {
  expires_at: {
    type: 'string',
    required: false,
    text: {
      zh: '到期时间，YYYY-MM-DD HH:MM:SS（北京时间），必须晚于现在',
      en: 'Expiry, YYYY-MM-DD HH:MM:SS in Asia/Shanghai, in the future',
    },
    example: '2036-12-31 23:59:59',
  },
  expired_url: {
    ...url,
    required: false,
    text: {
      zh: '到期或次数用完后的跳转地址，不设置则返回 410',
      en: 'Target after expiry or when the visits are used up; without it the link returns 410',
    },
    example: 'https://example.com/ended',
  },
  max_clicks: {
    type: 'integer',
    required: false,
    minimum: 1,
    maximum: linkLimits.maxClicks,
    text: { zh: '真人访问次数上限', en: 'Maximum number of visits by people' },
    example: 100,
  },
  password: {
    type: 'string',
    required: false,
    minLength: linkLimits.passwordLength.min,
    maxLength: linkLimits.passwordLength.max,
    text: { zh: '访问密码', en: 'Password for visitors' },
    example: 'open sesame',
  },
  tags: {
    type: 'list',
    required: false,
    maxItems: linkLimits.tags,
    text: {
      zh: `标签，每个 1 至 ${linkLimits.tagLength} 个字符，重复的合并`,
      en: `Tags of 1–${linkLimits.tagLength} characters each; duplicates are merged`,
    },
    example: ['2026', '短信'],
  },
  external_id: {
    type: 'string',
    required: false,
    minLength: 1,
    maxLength: linkLimits.externalIdLength,
    text: { zh: '外部编号（您系统中的编号），账户内唯一', en: 'Your own ID, unique in the account' },
    example: 'order-1001',
  },
  rules: {
    type: 'items',
    required: false,
    maxItems: linkLimits.rules,
    items: ruleSchema(url),
    text: {
      zh: '跳转规则 {"when": {…}, "target_url": "…"}，首个匹配的规则生效，均不匹配时跳转到 target_url。when 的条件：os、device、app、country、province、language，值可为列表',
      en: 'Redirect rules {"when": {…}, "target_url": "…"}; the first match wins, else target_url. Conditions of when: os, device, app, country, province, language; a value may be a list',
    },
    example: [{ when: { os: ['ios', 'macos'] }, target_url: 'https://example.com/apple' }],
  },
} as const

/** The parameters of `generate` and of each link of `generate_batch`. */
const newLink = {
  target_url: {
    ...url,
    required: true,
    text: { zh: '目标地址', en: 'Target URL' },
    example: 'https://example.com/landing',
  },
  title: { ...title, required: true, text: { zh: '标题', en: 'Title' }, example: '活动页' },
  redirect_type: {
    ...redirectType,
    default: 'direct',
    text: { zh: '跳转方式', en: 'Redirect type' },
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
  short_code: {
    ...shortCode,
    text: {
      zh: '自选短码，字母、数字、_ 和 -，首尾为字母或数字，区分大小写',
      en: 'A chosen code of letters, digits, _ and -, first and last a letter or digit; case-sensitive',
    },
  },
  domain: {
    type: 'string',
    required: false,
    maxLength: 253,
    text: { zh: 'a_url 使用的自有域名，必须已验证', en: 'Own verified domain for a_url' },
    example: 'go.example.com',
  },
  ...options,
} as const

const linkId = {
  type: 'integer',
  required: true,
  text: { zh: '短链接编号', en: 'ID of the short link' },
  example: 1,
} as const

/** Names one link; several must name the same one. */
const whichLink = {
  short_code: {
    ...shortCode,
    text: { zh: '短码', en: 'Short code' },
    example: 'aBcD234',
  },
  link_id: { ...linkId, required: false },
  external_id: {
    ...options.external_id,
    text: { zh: '外部编号', en: 'Your own ID' },
  },
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
      parameters: newLink,
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
        redirect_type: { ...redirectType, text: { zh: '新的跳转方式', en: 'New redirect type' } },
        ...options,
        clear: {
          type: 'list',
          required: false,
          maxItems: clearableFields.length,
          text: {
            zh: `要清除的字段：${clearableFields.join('、')}`,
            en: `Fields to remove: ${clearableFields.join(', ')}`,
          },
          example: ['expires_at'],
        },
      },
    },
    execute_update: {
      actions: ['execute_update'],
      scope: 'short_link:write',
      text: { zh: '刷新访问地址', en: 'Refresh the link addresses' },
      parameters: {
        link_id: linkId,
        short_code: {
          ...shortCode,
          text: { zh: '自选的新短码，不传则随机', en: 'A chosen new code; random when omitted' },
        },
      },
    },
    get: {
      actions: ['get'],
      scope: 'short_link:read',
      text: { zh: '查询短链接', en: 'Get a short link' },
      parameters: whichLink,
    },
    generate_batch: {
      actions: ['generate_batch'],
      scope: 'short_link:write',
      text: { zh: '批量生成短链接', en: `Create up to ${linkLimits.batchLinks} short links` },
      parameters: {
        links: {
          type: 'items',
          required: true,
          maxItems: linkLimits.batchLinks,
          items: objectSchema(newLink),
          text: {
            zh: '短链接列表，每项的参数与 generate 相同',
            en: 'List of links, each with the parameters of generate',
          },
          example: [{ target_url: 'https://example.com/1', title: '一' }],
        },
      },
    },
    list: {
      actions: ['list'],
      scope: 'short_link:read',
      text: { zh: '短链接列表', en: 'List short links' },
      parameters: {
        ...pageParameters,
        tag: { type: 'string', required: false, text: { zh: '标签', en: 'Tag' }, example: '2026' },
        state: {
          type: 'string',
          required: false,
          enum: linkStates,
          text: { zh: '状态', en: 'State' },
          example: 'active',
        },
        q: {
          type: 'string',
          required: false,
          maxLength: 200,
          text: {
            zh: '标题、目标地址或短码中的文字，英文字母不区分大小写',
            en: 'Text in the title, target or code; the case of ASCII letters is ignored',
          },
          example: 'example.com',
        },
      },
    },
    stats: {
      actions: ['stats'],
      scope: 'short_link:read',
      text: { zh: '访问统计', en: 'Click statistics' },
      parameters: {
        ...whichLink,
        tag: {
          type: 'string',
          required: false,
          text: {
            zh: `标签，与链接二选一，最多 ${analyticsLimits.links.toLocaleString('en-US')} 个链接`,
            en: `Tag of at most ${analyticsLimits.links.toLocaleString('en-US')} links, instead of a link`,
          },
          example: '2026',
        },
        start_date: {
          type: 'string',
          required: false,
          text: {
            zh: '开始日期 YYYY-MM-DD，默认统计截至 end_date 的 30 天',
            en: 'First day, YYYY-MM-DD; by default the 30 days up to end_date',
          },
          example: '2026-01-01',
        },
        end_date: {
          type: 'string',
          required: false,
          text: {
            zh: '结束日期 YYYY-MM-DD（含），默认今天',
            en: 'Last day, YYYY-MM-DD, inclusive; today by default',
          },
          example: '2026-01-31',
        },
        by: {
          type: 'string',
          required: false,
          enum: statParts,
          default: 'day',
          text: { zh: '分组方式', en: 'Grouping' },
          example: 'day',
        },
      },
    },
    pause: {
      actions: ['pause'],
      scope: 'short_link:write',
      text: { zh: '暂停短链接', en: 'Pause a short link' },
      parameters: whichLink,
    },
    resume: {
      actions: ['resume'],
      scope: 'short_link:write',
      text: { zh: '恢复短链接', en: 'Resume a short link' },
      parameters: whichLink,
    },
    delete: {
      actions: ['delete'],
      scope: 'short_link:write',
      text: { zh: '删除短链接', en: 'Delete a short link' },
      parameters: whichLink,
    },
  },
} as const satisfies Endpoint
