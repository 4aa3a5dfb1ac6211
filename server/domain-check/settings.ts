// Settings of the domain check and its gateways.
import { defaultMaxUrls } from '../../contract/domain-check.ts'
import {
  choice,
  gatewayList,
  headerText,
  integer,
  list,
  optionalText,
  optionalUrl,
  setting,
  type SettingValues,
  text,
} from '../setting-parsers.ts'
import { readAddress } from './address.ts'

export const domainCheckSettings = {
  DOMAIN_GATEWAYS: setting(gatewayList('sandbox', 'jump', 'http'), ['sandbox'], {
    zh: '域名检测网关，按优先顺序',
    en: 'Domain check gateways in order of preference',
  }),
  DOMAIN_MAX_URLS: setting(integer(1, 10_000), defaultMaxUrls, {
    zh: '一次检测最多的网址数',
    en: 'Maximum number of URLs in one domain check',
  }),
  DOMAIN_DEADLINE_MS: setting(integer(100, 300_000), 25_000, {
    zh: '一次检测的总时限（毫秒），到时未完成的网址按请求失败处理',
    en: 'Deadline of one domain check in milliseconds; unfinished items fail',
  }),
  DOMAIN_CACHE_S: setting(integer(0, 3_600), 0, {
    zh: '检测结果按域名缓存的秒数，0 表示不缓存',
    en: 'Seconds that a verdict is cached by host; 0 turns the cache off',
  }),
  DOMAIN_WATCH_S: setting(integer(1, 604_800), 3_600, {
    zh: '监控列表的检测间隔（秒）',
    en: 'Seconds between two checks of a watched domain',
  }),
  DOMAIN_WATCH_LIMIT: setting(integer(0, 100_000), 100, {
    zh: '每个账户最多监控的域名数',
    en: 'Maximum number of watched domains per account',
  }),
  DOMAIN_JUMP_URL: setting(
    text,
    'https://link.wtturl.cn/?aid=1128&lang=zh&scene=im&jumper_version=1&target={url}',
    {
      zh: '跳转页地址模板，{url} 为编码后的网址',
      en: 'Jump page URL template; {url} is the encoded address',
    },
  ),
  DOMAIN_JUMP_USER_AGENT: setting(
    headerText,
    'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36',
    { zh: '请求跳转页时的 User-Agent', en: 'User-Agent of requests to the jump page' },
  ),
  DOMAIN_JUMP_BLOCKED: setting(list, ['停止访问', '终止访问'], {
    zh: '拦截页的标志文字',
    en: 'Marker texts of the block page',
  }),
  DOMAIN_JUMP_WARNING: setting(choice('blocked', 'ok', 'failed'), 'blocked', {
    zh: '提示页（继续访问、第三方网页）的判定结果',
    en: 'Verdict for the warning page',
  }),
  DOMAIN_JUMP_WARNING_MARKERS: setting(list, ['继续访问', '第三方网页'], {
    zh: '提示页的标志文字',
    en: 'Marker texts of the warning page',
  }),
  DOMAIN_CANARY_GOOD: setting(optionalText, undefined, {
    zh: '已知正常的地址',
    en: 'An address known to pass',
  }),
  DOMAIN_CANARY_BAD: setting(optionalText, undefined, {
    zh: '已知被拦截的地址',
    en: 'An address known to be blocked',
  }),
  DOMAIN_CANARY_S: setting(integer(1, 86_400), 60, {
    zh: '探针间隔（秒）',
    en: 'Seconds between canary checks',
  }),
  DOMAIN_HTTP_PRESET: setting(choice('', 'uomg', 'rrbay', 'horocn', 'custom'), '', {
    zh: '付费检测接口预设；custom 由下列设置描述',
    en: 'Preset of the paid check API; custom uses the settings below',
  }),
  DOMAIN_HTTP_URL: setting(optionalUrl(['http:', 'https:']), undefined, {
    zh: '付费检测接口地址',
    en: 'URL of the paid check API',
  }),
  DOMAIN_HTTP_TOKEN: setting(
    optionalText,
    undefined,
    { zh: '付费检测接口令牌', en: 'Token of the paid check API' },
    'secret',
  ),
  DOMAIN_HTTP_TOKEN_NAME: setting(text, 'token', {
    zh: 'custom：令牌的参数名',
    en: 'custom: the name of the token parameter',
  }),
  DOMAIN_HTTP_ADDRESS: setting(text, 'url', {
    zh: 'custom：网址的参数名',
    en: 'custom: the name of the address parameter',
  }),
  DOMAIN_HTTP_VERDICT: setting(optionalText, undefined, {
    zh: 'custom：结果在响应中的位置，例如 data.status',
    en: 'custom: the path of the verdict in the response, for example data.status',
  }),
  DOMAIN_HTTP_OK: setting(list, [], {
    zh: 'custom：表示未拦截的值',
    en: 'custom: values that mean not blocked',
  }),
  DOMAIN_HTTP_BLOCKED: setting(list, [], {
    zh: 'custom：表示已拦截的值',
    en: 'custom: values that mean blocked',
  }),
} as const

/** What each gateway cannot work without. */
export const domainCheckRequirements = { http: ['DOMAIN_HTTP_PRESET', 'DOMAIN_HTTP_URL'] } as const

export function domainCheckProblems(config: SettingValues<typeof domainCheckSettings>): string[] {
  const problems: string[] = []
  if (Boolean(config.DOMAIN_CANARY_GOOD) !== Boolean(config.DOMAIN_CANARY_BAD)) {
    problems.push('DOMAIN_CANARY_GOOD 与 DOMAIN_CANARY_BAD 必须同时设置 / must be set together')
  }
  for (const name of ['DOMAIN_CANARY_GOOD', 'DOMAIN_CANARY_BAD'] as const) {
    if (config[name] && !readAddress(config[name]))
      problems.push(`${name} 不是有效网址 / is not a valid address`)
  }
  if (!isUrlTemplate(config.DOMAIN_JUMP_URL)) {
    problems.push('DOMAIN_JUMP_URL 必须是含 {url} 的完整地址 / must be a whole URL with {url} in it')
  }
  if (config.DOMAIN_HTTP_PRESET === 'custom') {
    for (const name of ['DOMAIN_HTTP_VERDICT', 'DOMAIN_HTTP_OK', 'DOMAIN_HTTP_BLOCKED'] as const) {
      if (!config[name]?.length) problems.push(`${name} 缺失，custom 需要它 / is required by custom`)
    }
  }
  return problems
}

function isUrlTemplate(template: string | undefined): boolean {
  return (
    template === undefined ||
    (template.includes('{url}') && /^https?:$/.test(URL.parse(template)?.protocol ?? ''))
  )
}
