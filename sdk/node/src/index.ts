// The client: one instance per account, operations grouped as in the API reference.
import { type ApiRequest, call, type CallOptions, type TransportOptions } from './transport.ts'
import type {
  CheckCode,
  CheckDomains,
  CheckedCode,
  CheckedDomains,
  Credits,
  CreditsQuery,
  GeneratedLink,
  DeletedLink,
  ListLinks,
  LinkStatsQuery,
  LinkStats,
  LinkStateChange,
  LinkPage,
  GenerateLinks,
  GeneratedLinks,
  GenerateLink,
  GetLink,
  IdentityOutcome,
  Link,
  RefreshedLink,
  RefreshLink,
  Page,
  SendCode,
  SendSms,
  SentCode,
  SentSms,
  SmsLogsQuery,
  AcceptedBatch,
  CancelBatch,
  CancelledBatch,
  GetBatch,
  SendBatch,
  SmsBatch,
  SmsRecord,
  SmsRepliesQuery,
  SmsReply,
  SmsSignature,
  SmsTemplate,
  UpdatedLink,
  UpdateLink,
  VerifyIdentity,
} from './types.ts'

export {
  type Code,
  codes,
  TollgateAbortError,
  TollgateApiError,
  TollgateConnectionError,
  TollgateError,
  TollgateTimeoutError,
} from './errors.ts'
export type { CallOptions } from './transport.ts'
export type * from './types.ts'
export { verifyWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.ts'

export interface TollgateOptions {
  /** Base URL of the service, for example `https://api.example.com`. */
  readonly baseUrl: string
  readonly username: string
  readonly apiKey: string
  /** Timeout of one attempt; default 30 seconds. */
  readonly timeoutMs?: number
  /** Retries after a timeout, a lost connection, 409, 429, 500 or 503; default 2. */
  readonly retries?: number
  /** If the service requires a longer wait, the error is thrown instead; default 10 seconds. */
  readonly longestWaitMs?: number
  /** Language of the messages; default zh. */
  readonly language?: 'zh' | 'en'
  /** Replaces `fetch`, for example to use a proxy. */
  readonly fetch?: typeof fetch
}

const paths = {
  shortlink: '/api/shortlink_api.php',
  sms: '/api/sms_api.php',
  identity: '/api/id_verification_api.php',
  domains: '/api/video_platform_check.php',
} as const

const dataOf = (body: Record<string, unknown>): unknown => body['data'] ?? undefined
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
    if (!/^[\x21-\x7e]+$/.test(options.apiKey))
      throw new TypeError('apiKey has a space, a line break or another character that no key contains')
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
    /** Creates a link. Costs short link credits. */
    generate: (link: GenerateLink, options?: CallOptions) =>
      this.#call<GeneratedLink>(this.#request(paths.shortlink, 'generate', link, true), options),
    /** Changes target or title. Free. */
    update: (change: UpdateLink, options?: CallOptions) =>
      this.#call<UpdatedLink>(this.#request(paths.shortlink, 'update', change, false), options),
    /** Gives the link a new code and new addresses. Costs short link credits. */
    executeUpdate: (link: RefreshLink, options?: CallOptions) =>
      this.#call<RefreshedLink>(this.#request(paths.shortlink, 'execute_update', link, true), options),
    /** Returns the link with its clicks. Free. */
    get: (which: GetLink, options?: CallOptions) =>
      this.#call<Link>(this.#request(paths.shortlink, 'get', which, false), options),
    /** Creates up to 100 links, all or none. Costs short link credits. */
    generateBatch: (batch: GenerateLinks, options?: CallOptions) =>
      this.#call<GeneratedLinks>(this.#request(paths.shortlink, 'generate_batch', batch, true), options),
    /** Returns a page of links, newest first. Free. */
    list: (query: ListLinks = {}, options?: CallOptions) =>
      this.#call<LinkPage>(this.#request(paths.shortlink, 'list', query, false), options),
    /** Returns the clicks of a link or a tag. Free. */
    stats: (query: LinkStatsQuery, options?: CallOptions) =>
      this.#call<LinkStats>(this.#request(paths.shortlink, 'stats', query, false), options),
    /** A paused link answers 410. Free. */
    pause: (which: GetLink, options?: CallOptions) =>
      this.#call<LinkStateChange>(this.#request(paths.shortlink, 'pause', which, false), options),
    resume: (which: GetLink, options?: CallOptions) =>
      this.#call<LinkStateChange>(this.#request(paths.shortlink, 'resume', which, false), options),
    /** The link answers 410 from now on. Free. */
    delete: (which: GetLink, options?: CallOptions) =>
      this.#call<DeletedLink>(this.#request(paths.shortlink, 'delete', which, false), options),
  }

  readonly sms = {
    /** Sends a message. Costs SMS credits for each billed part. */
    send: (message: SendSms, options?: CallOptions) =>
      this.#call<SentSms>(this.#request(paths.sms, 'send_sms', message, true), options),
    templates: (options?: CallOptions) =>
      this.#call<readonly SmsTemplate[]>(this.#request(paths.sms, 'get_templates', {}, false), options),
    credits: (which: CreditsQuery = {}, options?: CallOptions) =>
      this.#call<Credits>(this.#request(paths.sms, 'get_credits', which, false), options),
    signatures: (options?: CallOptions) =>
      this.#call<readonly SmsSignature[]>(this.#request(paths.sms, 'get_signatures', {}, false), options),
    /** Sends a one-time code. Costs SMS credits for each billed part. */
    sendCode: (code: SendCode, options?: CallOptions) =>
      this.#call<SentCode>(this.#request(paths.sms, 'send_code', code, true), options),
    /** Checks a one-time code. A right one is used up. Free. */
    checkCode: (code: CheckCode, options?: CallOptions) =>
      this.#call<CheckedCode>(this.#request(paths.sms, 'check_code', code, false), options),
    replies: (which: SmsRepliesQuery = {}, options?: CallOptions) =>
      this.#page<SmsReply>(paths.sms, 'get_replies', which, options),
    /** Like `logs`, a page at a time. */
    logsPage: (which: SmsLogsQuery, options?: CallOptions) =>
      this.#page<SmsRecord>(paths.sms, 'get_logs', { ...which, limit: which.limit ?? 20 }, options),
    /** Accepts up to 1,000 messages and does not wait for the gateways. Charged together, or not at all. */
    sendBatch: (batch: SendBatch, options?: CallOptions) =>
      this.#call<AcceptedBatch>(this.#request(paths.sms, 'send_batch', batch, true), options),
    getBatch: (which: GetBatch, options?: CallOptions) =>
      this.#call<SmsBatch>(this.#request(paths.sms, 'get_batch', which, false), options),
    /** Cancels what has not started. */
    cancelBatch: (which: CancelBatch, options?: CallOptions) =>
      this.#call<CancelledBatch>(this.#request(paths.sms, 'cancel_batch', which, false), options),
    /** Returns the latest 20 matching records. */
    logs: (which: SmsLogsQuery, options?: CallOptions) =>
      this.#call<readonly SmsRecord[]>(this.#request(paths.sms, 'get_logs', which, false), options),
  }

  readonly identity = {
    /** Checks whether name and number match. Costs a credit, which is refunded if there is no result. */
    verify: (person: VerifyIdentity, options?: CallOptions) =>
      this.#call<IdentityOutcome>(
        { path: paths.identity, values: { ...person }, paid: true, read: outcomeOf },
        options,
      ),
  }

  readonly domains = {
    /** Checks which URLs are blocked. Costs a credit for each item; failed items are refunded. */
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

  #request(path: string, action: string, values: object, paid: boolean): ApiRequest {
    return { path, values: { username: this.#username, action, ...values }, paid, read: dataOf }
  }

  #page<Item>(path: string, action: string, values: object, options: CallOptions | undefined) {
    const read = (body: Record<string, unknown>) =>
      Array.isArray(body['data'])
        ? { items: body['data'], next_cursor: body['next_cursor'] ?? null }
        : undefined
    return this.#call<Page<Item>>({ ...this.#request(path, action, values, false), read }, options)
  }

  #call<T>(request: ApiRequest, options: CallOptions | undefined): Promise<T> {
    return call<T>(this.#transport, request, options)
  }
}
