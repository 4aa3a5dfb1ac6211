// Checks that gateways are reachable, and that the public URL and its proxy work.
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { sms } from '../../contract/sms.ts'
import { type Config, publicUrlOf } from '../../server/config.ts'
import { findSharedReceiptSecrets } from '../../server/sms/gateways.ts'
import { type Finding, ok, describeReason, reportProblem } from './finding.ts'

const timeoutMs = 5_000

type GatewayAddress = (config: Config) => string | undefined
type AddressesOf<Names extends readonly string[]> = Readonly<
  Record<Exclude<Names[number], 'sandbox'>, GatewayAddress>
>

/** The address of every gateway that calls a provider. */
const gatewayAddresses: {
  readonly sms: AddressesOf<Config['SMS_GATEWAYS']>
  readonly identity: AddressesOf<Config['IDENTITY_GATEWAYS']>
  readonly domain: AddressesOf<Config['DOMAIN_GATEWAYS']>
} = {
  sms: {
    aliyun: (config) => config.ALIYUN_SMS_ENDPOINT,
    tencent: (config) => config.TENCENT_SMS_ENDPOINT,
    http: (config) => config.SMS_HTTP_URL,
  },
  identity: {
    aliyun: (config) => config.ALIYUN_IDENTITY_ENDPOINT,
    tencent: (config) => config.TENCENT_IDENTITY_ENDPOINT,
    market: (config) => config.IDENTITY_MARKET_URL,
  },
  domain: {
    jump: (config) => config.DOMAIN_JUMP_URL,
    http: (config) => config.DOMAIN_HTTP_URL,
  },
}

type DoctorGroup = keyof typeof gatewayAddresses

export async function checkGateways(config: Config): Promise<Finding[]> {
  const groups: readonly (readonly [DoctorGroup, readonly string[]])[] = [
    ['sms', config.SMS_GATEWAYS],
    ['identity', config.IDENTITY_GATEWAYS],
    ['domain', config.DOMAIN_GATEWAYS],
  ]
  const found = groups.map(async ([group, names]): Promise<Finding[]> => {
    const setting = `${group.toUpperCase()}_GATEWAYS`
    if (names.length === 0) {
      return [
        reportProblem(
          'gateways',
          'warn',
          [`${group} 没有网关`, `no gateway for ${group}`],
          [`该产品已停用；如需启用请设置 ${setting}`, `the product is disabled; set ${setting} to enable it`],
        ),
      ]
    }
    return Promise.all(names.map((name) => checkGateway(config, group, name, setting)))
  })
  return [...(await Promise.all(found)).flat(), ...checkReceiptSecrets(config)]
}

function checkReceiptSecrets(config: Config): Finding[] {
  const shared = findSharedReceiptSecrets(config)
  if (shared.length === 0) return []
  return [
    reportProblem(
      'gateways',
      'warn',
      [
        `${shared.join('、')} 的回执地址使用同一个密钥，一方可冒充另一方推送回执`,
        `the receipt URLs of ${shared.join(' and ')} contain the same secret, so one vendor can send receipts in the name of another`,
      ],
      [
        '设置 SMS_RECEIPT_SECRET_ALIYUN 等，或取消 SMS_RECEIPT_SECRET，再到服务商处更新地址',
        'set SMS_RECEIPT_SECRET_ALIYUN and the others, or unset SMS_RECEIPT_SECRET, then update the URLs at the vendors',
      ],
    ),
  ]
}

async function checkGateway(
  config: Config,
  group: DoctorGroup,
  name: string,
  setting: string,
): Promise<Finding> {
  if (name === 'sandbox') {
    if (isLoopback(publicUrlOf(config)))
      return ok('gateways', `${group} 使用沙箱`, `${group} uses the sandbox`)
    return reportProblem(
      'gateways',
      'warn',
      [`${group} 使用沙箱，不会真正执行`, `${group} uses the sandbox: no provider is called`],
      [`正式运营请在 ${setting} 中设置真实网关`, `configure real gateways in ${setting}`],
    )
  }
  const addresses: Readonly<Partial<Record<string, GatewayAddress>>> = gatewayAddresses[group]
  const address = addresses[name]?.(config)
  const url = URL.parse(address?.replaceAll('{url}', '') ?? '')
  if (!url) {
    return reportProblem(
      'gateways',
      'fail',
      [`${group} ${name} 没有地址`, 'has no URL'],
      [`检查 ${group} ${name} 的设置`, 'check its settings'],
    )
  }
  try {
    await connect(url)
    return ok('gateways', `${group} ${name} 可连通（${url.host}）`, 'reachable')
  } catch (error) {
    return reportProblem(
      'gateways',
      'fail',
      [`${group} ${name} 无法连通：${url.host} ${describeReason(error)}`, 'not reachable'],
      ['检查域名解析、防火墙与出口网络', 'check DNS, firewall and outbound network'],
    )
  }
}

/** Connects and, for https, verifies the certificate. Sends no request. */
function connect(url: URL): Promise<void> {
  const isTls = url.protocol === 'https:'
  const port = Number(url.port) || (isTls ? 443 : 80)
  const host = url.hostname.replaceAll(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = isTls
      ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) })
      : connectTcp({ host, port })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('timed out')))
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      resolve()
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

export async function checkPublicUrl(config: Config): Promise<Finding[]> {
  const url = publicUrlOf(config)
  const findings = [checkAddress(config, url)]
  let alive: Response
  try {
    // The home page, because a proxy should not forward /livez.
    alive = await fetch(`${url}/`, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    return [
      ...findings,
      reportProblem(
        'service',
        'fail',
        [`${url} 没有响应：${describeReason(error)}`, 'does not respond'],
        [
          '启动服务，或检查 PUBLIC_URL、代理、证书与域名解析',
          'start the service, or check PUBLIC_URL, proxy, certificate and DNS',
        ],
      ),
    ]
  }
  const proxy = alive.headers.get('x-tollgate-proxy')
  if (alive.status !== 200 || proxy === null) {
    return [
      ...findings,
      reportProblem(
        'service',
        'fail',
        [`${url}/ 的响应不是本服务的（HTTP ${alive.status}）`, 'another server responds there'],
        ['检查代理是否把全部路径转给服务', 'make sure that the proxy forwards every path to the service'],
      ),
    ]
  }
  findings.push(ok('service', `${url} 有响应`, 'responds'))
  findings.push(checkForwarded(url, proxy))
  findings.push(await checkUnderscores(url))
  findings.push(await checkMetrics(url, config.PORT))
  return findings
}

function checkAddress(config: Config, url: string): Finding {
  const { protocol, hostname } = new URL(url)
  if (hostname === '0.0.0.0' || hostname === '[::]') {
    return reportProblem(
      'address',
      'fail',
      [`对外地址是 ${url}，短链接会指向它`, 'is not a public URL, and short links start with it'],
      [
        '设置 PUBLIC_URL，例如 https://api.example.com',
        'set PUBLIC_URL, for example https://api.example.com',
      ],
    )
  }
  if (protocol === 'http:' && !isLoopback(url)) {
    return reportProblem(
      'address',
      'warn',
      [`${url} 没有加密，密钥会明文传输`, 'API keys are sent in clear text'],
      [
        '在前面放置终止 TLS 的代理（见 deploy/nginx.conf），并把 PUBLIC_URL 改为 https',
        'use a proxy that terminates TLS (see deploy/nginx.conf) and set PUBLIC_URL to https',
      ],
    )
  }
  return config.PUBLIC_URL
    ? ok('address', `对外地址 ${url}`, 'public URL')
    : ok('address', `未设置 PUBLIC_URL，使用 ${url}`, 'PUBLIC_URL is not set')
}

function checkForwarded(url: string, state: string): Finding {
  if (state === 'trusted')
    return ok('proxy', '代理传递的来源地址可信', "the proxy's X-Forwarded-For is trusted")
  if (state === 'ignored') {
    return reportProblem(
      'proxy',
      'fail',
      [
        '代理发来 X-Forwarded-For，但不被信任：所有调用方看起来都是代理',
        'X-Forwarded-For is received but not trusted: every caller has the address of the proxy',
      ],
      [
        '把代理的地址写进 TRUSTED_PROXIES，例如 127.0.0.1',
        'add the address of the proxy to TRUSTED_PROXIES, for example 127.0.0.1',
      ],
    )
  }
  if (new URL(url).protocol === 'https:') {
    return reportProblem(
      'proxy',
      'fail',
      ['代理没有发来 X-Forwarded-For', 'X-Forwarded-For is not received'],
      ['nginx：proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;', 'see deploy/nginx.conf'],
    )
  }
  return ok('proxy', '前面没有代理', 'no proxy')
}

/** Sends an invalid key: the error code shows whether headers with an underscore reach the service. */
async function checkUnderscores(url: string): Promise<Finding> {
  const response = await fetch(`${url}${sms.path}?action=get_credits`, {
    headers: { username: 'doctor', api_key: 'tg_doctor' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const { code } = (await response.json().catch(() => ({}))) as { code?: number }
  if (code === 1003 || code === 429)
    return ok('headers', '带下划线的请求头能够到达', 'headers with an underscore are received')
  return reportProblem(
    'headers',
    'fail',
    ['请求头 api_key 没有到达服务', 'the header api_key does not reach the service'],
    [
      'nginx：在 server 中加入 underscores_in_headers on;',
      'nginx: add underscores_in_headers on; to the server block',
    ],
  )
}

/**
 * A proxy on the same machine that does not forward the address of a visitor looks like a local request, if it forwards no host or the
 * one that the visitor has sent.
 */
async function checkMetrics(url: string, port: number): Promise<Finding> {
  // Without a proxy, this request is local itself.
  if (isLoopback(url) && new URL(url).protocol === 'http:')
    return ok('metrics', '/metrics 仅本机可读', '/metrics is for this machine only')
  const { host, hostname } = new URL(url)
  const statuses = await Promise.all(
    [host, `127.0.0.1:${port}`].map((name) => statusOf(`${url}/metrics`, name, hostname)),
  )
  if (!statuses.includes(200)) return ok('metrics', '/metrics 未对外开放', '/metrics is not public')
  return reportProblem(
    'metrics',
    'fail',
    [`${url}/metrics 对外开放`, '/metrics is public'],
    [
      '在代理中对 /metrics 返回 404（见 deploy/nginx.conf），或设置 METRICS_PORT 或 METRICS_TOKEN',
      'return 404 for /metrics in the proxy (see deploy/nginx.conf), or set METRICS_PORT or METRICS_TOKEN',
    ],
  )
}

/** Undefined when there is no response. */
function statusOf(url: string, host: string, servername: string): Promise<number | undefined> {
  const options = { headers: { host }, agent: false, timeout: timeoutMs }
  return new Promise((resolve) => {
    const request = url.startsWith('https:')
      ? requestTls(url, { ...options, ...(isIP(servername) === 0 && { servername }) })
      : requestPlain(url, options)
    request.once('timeout', () => request.destroy(new Error('timed out')))
    request.once('error', () => resolve(undefined))
    request.once('response', (response) => {
      resolve(response.statusCode)
      request.destroy()
    })
    request.end()
  })
}

function isLoopback(url: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(new URL(url).hostname)
}
