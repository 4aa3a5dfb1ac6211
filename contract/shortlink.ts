// The short link endpoint.
import { credentialParameters, type Endpoint } from './endpoint.ts'

/** `direct` is a 302, `permanent` a 301, `page` a page that names the destination and goes on at a click. */
export const redirectTypes = ['direct', 'permanent', 'page'] as const

export type RedirectType = (typeof redirectTypes)[number]

/** Characters of a destination, and of a title. */
export const urlLimit = 2_048
export const titleLimit = 200

const linkId = {
  type: 'integer',
  required: true,
  text: { zh: '短链接编号', en: 'Identifier of the short link' },
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
      text: { zh: '操作类型', en: 'Which operation' },
      example: 'generate',
    },
  },
  operations: {
    generate: {
      actions: ['generate'],
      text: { zh: '生成短链接', en: 'Create a short link' },
      parameters: {
        target_url: {
          type: 'string',
          required: true,
          text: { zh: '目标地址', en: 'Destination URL' },
          example: 'https://example.com/landing',
        },
        title: { type: 'string', required: true, text: { zh: '标题', en: 'Title' }, example: '活动页' },
        redirect_type: {
          type: 'string',
          required: false,
          text: { zh: '跳转方式：direct、permanent 或 page', en: 'direct, permanent or page' },
          example: 'direct',
        },
        redirect_url_a: {
          type: 'string',
          required: false,
          text: {
            zh: 'a_url 的跳转地址，默认与目标地址相同',
            en: 'Where a_url leads; target_url when omitted',
          },
          example: 'https://example.com/a',
        },
      },
    },
    update: {
      actions: ['update'],
      text: { zh: '修改短链接', en: 'Change a short link' },
      parameters: {
        link_id: linkId,
        target_url: {
          type: 'string',
          required: true,
          text: { zh: '新的目标地址', en: 'New destination URL' },
          example: 'https://example.com/new',
        },
        title: {
          type: 'string',
          required: false,
          text: { zh: '新的标题', en: 'New title' },
          example: '新标题',
        },
        redirect_url_a: {
          type: 'string',
          required: false,
          text: {
            zh: '新的 a_url 跳转地址（扩展参数），不传则不变',
            en: 'New destination of a_url (our extension); unchanged when omitted',
          },
          example: 'https://example.com/a',
        },
      },
    },
    execute_update: {
      actions: ['execute_update'],
      text: { zh: '刷新访问地址', en: 'Refresh the access addresses' },
      parameters: { link_id: linkId },
    },
    get: {
      actions: ['get'],
      text: { zh: '查询短链接', en: 'Look up a short link' },
      parameters: {
        short_code: {
          type: 'string',
          required: false,
          text: { zh: '短码，与 link_id 二选一', en: 'The code; this or link_id' },
          example: 'aBcD234',
        },
        link_id: { ...linkId, required: false },
      },
    },
  },
} as const satisfies Endpoint
