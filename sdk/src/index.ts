// The client: one object per account, the operations grouped like the interface reference.
import { call, type CallOptions, type Request, type TransportOptions } from './transport.ts'
import type {
  CheckDomains,
  CheckedDomains,
  Credits,
  CreditsQuery,
  GeneratedLink,
  GenerateLink,
  GetLink,
  IdentityOutcome,
  Link,
  RefreshedLink,
  RefreshLink,
  SendSms,
  SentSms,
  SmsLogsQuery,
  SmsRecord,
  SmsTemplate,
  UpdatedLink,
  UpdateLink,
  VerifyIdentity,
} from './types.ts'

export {
  type Code,
  codes,
  TollgateApiError,
  TollgateConnectionError,
  TollgateError,
  TollgateTimeoutError,
} from './errors.ts'
export type { CallOptions } from './transport.ts'
export type * from './types.ts'

export interface TollgateOptions {
  /** Where the service is, `https://api.example.com` for instance. */
  readonly baseUrl: string
  readonly username: string
  readonly apiKey: string
  /** For one attempt; 30 seconds. */
  readonly timeoutMs?: number
  /** How often a call is repeated after a timeout, a lost connection, 409, 429, 500 or 503; 2. */
  readonly retries?: number
  /** When the service asks for more patience than this, the error is thrown instead; 10 seconds. */
  readonly longestWaitMs?: number
  /** Language of the messages; zh. */
  readonly language?: 'zh' | 'en'
  /** Another `fetch`, to go through a proxy for instance. */
  readonly fetch?: typeof fetch
}

const paths = {
  shortlink: '/api/shortlink_api.php',
  sms: '/api/sms_api.php',
  identity: '/api/id_verification_api.php',
  domains: '/api/video_platform_check.php',
} as const

const dataOf = (body: Record<string, unknown>): unknown => body['data']
const outcomeOf = (body: Record<string, unknown>): unknown =>
  typeof body['success'] === 'boolean' && typeof body['matched'] === 'boolean' ? body : undefined

export class Tollgate {
  readonly #transport: TransportOptions
  readonly #username: string

  constructor(options: TollgateOptions) {
    for (const name of ['baseUrl', 'username', 'apiKey'] as const) {
      if (typeof options[name] !== 'string' || options[name] === '') throw new TypeError(`${name} is missing`)
    }
    if (!/^https?:\/\//.test(options.baseUrl))
      throw new TypeError('baseUrl must begin with http:// or https://')
    this.#username = options.username
    this.#transport = {
      baseUrl: options.baseUrl.replace(/\/+$/, ''),
      apiKey: options.apiKey,
      timeoutMs: options.timeoutMs ?? 30_000,
      retries: options.retries ?? 2,
      longestWaitMs: options.longestWaitMs ?? 10_000,
      language: options.language ?? 'zh',
      fetch: options.fetch ?? globalThis.fetch,
    }
  }

  readonly shortlink = {
    /** Creates a link. Takes short link credits. */
    generate: (link: GenerateLink, options?: CallOptions) =>
      this.#call<GeneratedLink>(this.#request(paths.shortlink, 'generate', link, true), options),
    /** Changes destination or title. Free. */
    update: (change: UpdateLink, options?: CallOptions) =>
      this.#call<UpdatedLink>(this.#request(paths.shortlink, 'update', change, false), options),
    /** Gives the link a new code and new addresses. Takes short link credits. */
    executeUpdate: (link: RefreshLink, options?: CallOptions) =>
      this.#call<RefreshedLink>(this.#request(paths.shortlink, 'execute_update', link, true), options),
    /** The link with its clicks. Free. */
    get: (which: GetLink, options?: CallOptions) =>
      this.#call<Link>(this.#request(paths.shortlink, 'get', which, false), options),
  }

  readonly sms = {
    /** Sends a message. Takes as many SMS credits as it has billed parts. */
    send: (message: SendSms, options?: CallOptions) =>
      this.#call<SentSms>(this.#request(paths.sms, 'send_sms', message, true), options),
    templates: (options?: CallOptions) =>
      this.#call<readonly SmsTemplate[]>(this.#request(paths.sms, 'get_templates', {}, false), options),
    credits: (which: CreditsQuery = {}, options?: CallOptions) =>
      this.#call<Credits>(this.#request(paths.sms, 'get_credits', which, false), options),
    /** The newest 20 records that fit. */
    logs: (which: SmsLogsQuery, options?: CallOptions) =>
      this.#call<readonly SmsRecord[]>(this.#request(paths.sms, 'get_logs', which, false), options),
  }

  readonly identity = {
    /** Do name and number belong together? Takes a credit; it comes back when there is no verdict. */
    verify: (person: VerifyIdentity, options?: CallOptions) =>
      this.#call<IdentityOutcome>(
        { path: paths.identity, values: { ...person }, paid: true, read: outcomeOf },
        options,
      ),
  }

  readonly domains = {
    /** Which of these are blocked? Takes a credit for each item; what could not be checked is given back. */
    check: (domains: CheckDomains, options?: CallOptions) =>
      this.#call<CheckedDomains>(
        {
          path: paths.domains,
          values: { username: this.#username, ...domains },
          paid: true,
          read: dataOf,
        },
        options,
      ),
  }

  #request(path: string, action: string, values: object, paid: boolean): Request {
    return { path, values: { username: this.#username, action, ...values }, paid, read: dataOf }
  }

  #call<T>(request: Request, options: CallOptions | undefined): Promise<T> {
    return call<T>(this.#transport, request, options)
  }
}
