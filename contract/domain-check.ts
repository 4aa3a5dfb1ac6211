// The domain block check endpoint.
import { credentialParameters, type Endpoint } from './endpoint.ts'

export const domainCheck = {
  name: 'domain-check',
  path: '/api/video_platform_check.php',
  methods: ['GET', 'POST'],
  shape: 'envelope',
  readsForms: true,
  common: credentialParameters,
  operations: {
    check: {
      actions: [],
      scope: 'domain_check:write',
      text: { zh: '批量检测域名是否被拦截', en: 'Check a batch of domains' },
      parameters: {
        urls: {
          type: 'list',
          required: true,
          text: { zh: '待检测的域名或网址列表', en: 'Domains or URLs to check' },
          example: ['example.com', 'blocked.test'],
        },
        check_random: {
          type: 'boolean',
          required: false,
          default: false,
          text: {
            zh: '是否同时检测随机子域名',
            en: 'Whether to also check a random subdomain of each',
          },
          example: false,
        },
      },
    },
  },
} as const satisfies Endpoint

/** Default of the setting `DOMAIN_MAX_URLS`. */
export const defaultMaxUrls = 500

/** The results are data, not messages: they are never translated. */
export const checkResults = {
  passes: '未拦截',
  blocked: '已拦截',
  invalid: '无效URL',
  failed: '请求失败',
} as const

export type CheckResult = (typeof checkResults)[keyof typeof checkResults]

/** One item of `all_urls`. */
export interface CheckItem {
  readonly url: string
  readonly type: 'original' | 'random'
}
