// The service under fire: sends a case, and says what must not have happened.
import { createHash, randomBytes } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import { consoleApi, csrfHeader } from '../../contract/console/route.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import { insertSession } from '../../server/console/session-store.ts'
import { checkLedger } from '../../server/credits/check-store.ts'
import type { Engine } from '../../server/db/database.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import { get, startService, type TestAccount, type TestService } from '../support/service.ts'
import type { ApiCase, BodyKind, ConsoleCase, Damage, FuzzCase, Place, RawCase } from './case.ts'
import { jsonText } from './words.ts'

/** No answer after so long is a hang. */
const hangMs = 20_000

const credits = 1_000_000_000

export interface Target extends AsyncDisposable {
  /** Throws when something happened that never may. */
  fire(one: FuzzCase): Promise<void>
  /** Throws unless the service is as well as before, and its ledger too. */
  checkUp(): Promise<void>
  readonly seen: { readonly statuses: Record<string, number>; paid: number }
}

interface Reply {
  readonly status: number
  readonly text: string
}

interface Session {
  readonly cookie: string
  readonly csrf: string
}

type Balances = Record<ApiType, number>

export async function openTarget(engine: Engine): Promise<Target> {
  const service = await startService(engine, { SWEEP_S: '3600', SIGN_UP: 'off' })
  const { db } = service.installation
  const holder = await service.account(Object.fromEntries(apiTypes.map((type) => [type, credits])))
  const stranger = await service.account()
  const victim = await service.account({ sms: 1_000 })
  const boss = await createAccount(db, { username: 'fuzzing-operator', role: 'operator' })
  for (const [code, content] of [
    ['CODE', '您的验证码是${code}。'],
    ['PLAIN', '您好'],
  ] as const) {
    await createTemplate(
      db,
      { kind: 'operator' },
      { accountId: holder.id, code, name: code, content, status: '审核通过' },
    )
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const seen = { statuses: {} as Record<string, number>, paid: 0 }
  const sessions = {
    account: await openSession(service, holder.id),
    operator: await openSession(service, boss.id),
  }

  async function balances(): Promise<Balances> {
    const rows = await db.all<{ api_type: ApiType; total: number; used: number }>(
      'SELECT api_type, total, used FROM credit WHERE account_id = ?',
      [holder.id],
    )
    return Object.fromEntries(rows.map((row) => [row.api_type, row.total - row.used])) as Balances
  }

  async function fire(one: FuzzCase): Promise<void> {
    const before = await balances()
    const reply =
      one.kind === 'raw'
        ? await sendRaw(service, one)
        : one.kind === 'api'
          ? await send(agent, apiRequest(service, one, { holder, stranger }))
          : await send(agent, consoleRequest(service, one, sessions, victim.id))
    const label = `${one.kind} ${reply?.status ?? 'closed'}`
    seen.statuses[label] = (seen.statuses[label] ?? 0) + 1
    requireNoFailure(service, reply)
    const spent = differences(before, await balances())
    if (one.kind === 'api') seen.paid += requireExplained(one, reply!, spent)
    else requireNothingSpent(spent)
    if (one.kind === 'console' && reply!.status < 400 && one.method !== 'GET') await renewSessions()
  }

  /** Signing out works, and so does ending sessions: the next case wants to be signed in again. */
  async function renewSessions(): Promise<void> {
    for (const [name, id] of [
      ['account', holder.id],
      ['operator', boss.id],
    ] as const) {
      const { me } = (await get(`${service.url}${consoleApi}/start`, { cookie: sessions[name].cookie })).body
      if (!me) sessions[name] = await openSession(service, id)
    }
  }

  return {
    fire,
    seen,
    async checkUp() {
      const ready = await get(`${service.url}/readyz`)
      if (ready.status !== 200) throw new Error(`not ready afterwards: ${ready.status}`)
      await service.app.requestLog.flush()
      const { problems } = await checkLedger(db, 60_000)
      if (problems.length > 0) throw new Error(`the ledger is wrong: ${problems.join('; ')}`)
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await service[Symbol.asyncDispose]()
    },
  }
}

async function openSession({ installation, url }: TestService, accountId: number): Promise<Session> {
  const token = randomBytes(32).toString('base64url')
  const tokenHash = createHash('sha256').update(token).digest('hex')
  await installation.db.write((tx) =>
    insertSession(tx, { tokenHash, accountId, address: '127.0.0.1', agent: 'fuzz' }),
  )
  const cookie = `tg_session=${token}`
  const { body } = await get(`${url}${consoleApi}/start`, { cookie })
  return { cookie, csrf: body.me.csrf_token }
}

function requireNoFailure(service: TestService, reply: Reply | undefined): void {
  if (reply && reply.status >= 500 && reply.status !== 505) {
    throw new Error(`answered ${reply.status}: ${reply.text.slice(0, 500)}`)
  }
  const failures = service.logged.filter((line) => /"level":[56]0/.test(line))
  service.logged.length = 0
  if (failures.length > 0) throw new Error(`logged ${failures[0]}`)
  if (Object.keys(Object.prototype).length > 0) throw new Error('Object.prototype was changed')
}

function differences(before: Balances, after: Balances): Partial<Balances> {
  return Object.fromEntries(
    apiTypes.flatMap((type) => (before[type] === after[type] ? [] : [[type, before[type] - after[type]]])),
  )
}

function requireNothingSpent(spent: Partial<Balances>): void {
  if (Object.keys(spent).length > 0) throw new Error(`credits moved: ${JSON.stringify(spent)}`)
}

/** What a call cost must be what its answer says: nothing without a success. Tells whether it was paid. */
function requireExplained(one: ApiCase, reply: Reply, spent: Partial<Balances>): number {
  const cost = costOf(one, reply)
  const told = cost === undefined ? {} : { [cost.type]: cost.amount }
  const same = apiTypes.every((type) => (spent[type] ?? 0) === (told[type] ?? 0))
  if (!same) {
    throw new Error(
      `cost ${JSON.stringify(spent)}, but the answer is worth ${JSON.stringify(told)}: ${reply.status} ${reply.text.slice(0, 300)}`,
    )
  }
  return cost ? 1 : 0
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
function parsed(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function costOf(
  { endpoint }: ApiCase,
  { status, text }: Reply,
): { type: ApiType; amount: number } | undefined {
  const body = parsed(text)
  const { data } = body
  if (status !== 200) return undefined
  switch (endpoint) {
    case '/api/shortlink_api.php':
      return data?.remaining_balance === undefined ? undefined : { type: 'short_link', amount: 1 }
    case '/api/sms_api.php':
      // All templates and texts here fit, or are refused, except for long values: parts are told by the record.
      return data?.biz_id === undefined ? undefined : { type: 'sms', amount: partsOf(data) }
    case '/api/id_verification_api.php':
      return body.success === true ? { type: 'id_verification', amount: 1 } : undefined
    default: {
      const results: string[] | undefined = data?.results
      const amount = results?.filter((result) => result !== '请求失败').length ?? 0
      return amount === 0 ? undefined : { type: 'domain_check', amount }
    }
  }
}

let lastSms = credits

/** The answer tells what is left; all that was spent on SMS comes through here, one call after the other. */
function partsOf(data: { remaining_credits: number }): number {
  const amount = lastSms - data.remaining_credits
  lastSms = data.remaining_credits
  if (amount < 1 || amount > 8) throw new Error(`a message of ${amount} parts`)
  return amount
}

interface Outgoing {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: Buffer | undefined
  readonly chunked: boolean
}

function apiRequest(
  service: TestService,
  one: ApiCase,
  accounts: { holder: TestAccount; stranger: TestAccount },
): Outgoing {
  const parameters = [...one.parameters, ...credentialsOf(one, accounts)]
  const bodyless = ['GET', 'HEAD', 'TRACE'].includes(one.method)
  const placeOf = (place: Place) => (bodyless && place === 'body' ? 'query' : place)
  const at = (place: Place) => parameters.filter((parameter) => placeOf(parameter.place) === place)
  const query = urlencoded(at('query')).slice(0, 6_000)
  const headers: Record<string, string> = { ...one.headers }
  for (const { name, value } of at('header')) {
    if (/^[\w-]{1,40}$/.test(name) && name !== 'expect') headers[name] = headerValue(value)
  }
  const { type, text } = bodyOf(one.bodyKind, at('body'))
  const contentType = one.contentType === 'fitting' ? type : one.contentType
  const body = text === undefined ? undefined : damaged(encoded(one, text), one.damage)
  if (contentType !== undefined && body !== undefined) headers['content-type'] = contentType
  if (one.encoding === 'gzip') headers['content-encoding'] = 'gzip'
  return {
    url: `${service.url}${one.endpoint}${query === '' ? '' : `?${query}`}`,
    method: one.method,
    headers,
    body,
    chunked: one.chunked,
  }
}

function credentialsOf(
  { credentials: kind, credentialsIn: place }: ApiCase,
  { holder, stranger }: { holder: TestAccount; stranger: TestAccount },
): { name: string; value: unknown; place: Place }[] {
  const pair = (username: unknown, key: unknown) => [
    { name: 'username', value: username, place },
    { name: 'api_key', value: key, place },
  ]
  switch (kind) {
    case 'right':
      return pair(holder.username, holder.key)
    case 'stranger':
      return pair(stranger.username, stranger.key)
    case 'malformed':
      return pair(holder.username, `${holder.key.slice(0, -1)}!`)
    case 'hostile':
      return pair({ $ne: null }, ['x'])
    case 'none':
      return []
  }
}

type Given = readonly { readonly name: string; readonly value: unknown }[]

function bodyOf(kind: BodyKind, given: Given): { type: string; text: string | undefined } {
  if (given.length === 0) return { type: 'application/json', text: undefined }
  switch (kind) {
    case 'json': {
      const pairs = given.map(({ name, value }) => `${JSON.stringify(name)}:${jsonText(value)}`)
      return { type: 'application/json', text: `{${pairs.join(',')}}` }
    }
    case 'form':
      return { type: 'application/x-www-form-urlencoded', text: urlencoded(given) }
    case 'multipart': {
      const parts = given.map(
        ({ name, value }) =>
          `--fuzz\r\nContent-Disposition: form-data; name="${name.replaceAll('"', '%22')}"\r\n\r\n${textOf(value)}\r\n`,
      )
      return { type: 'multipart/form-data; boundary=fuzz', text: `${parts.join('')}--fuzz--\r\n` }
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value)
}

function urlencoded(given: Given): string {
  return given
    .map(
      ({ name, value }) =>
        `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(textOf(value).toWellFormed())}`,
    )
    .join('&')
}

function headerValue(value: unknown): string {
  return Buffer.from(textOf(value).toWellFormed())
    .toString('latin1')
    .replaceAll(/[\0-\x08\x0a-\x1f\x7f]/g, '')
    .slice(0, 1_000)
}

function encoded({ encoding }: ApiCase, text: string): Buffer {
  switch (encoding) {
    case 'bom':
      return Buffer.from(`\ufeff${text}`)
    case 'gzip':
      return gzipSync(text)
    default:
      return Buffer.from(text, encoding)
  }
}

function consoleRequest(
  service: TestService,
  one: ConsoleCase,
  sessions: Record<'account' | 'operator', Session>,
  victimId: number,
): Outgoing {
  const part = one.part === 'victim' ? String(victimId) : encodeURIComponent(one.part)
  const path = one.route.replaceAll(/:\w+/g, () => part)
  const query = new URLSearchParams(one.query).toString().slice(0, 6_000)
  const session = one.who === 'nobody' ? undefined : sessions[one.who]
  const headers: Record<string, string> = { ...one.headers }
  if (session) {
    headers['cookie'] = session.cookie
    if (one.token === 'right') headers[csrfHeader] = session.csrf
    if (one.token === 'wrong') headers[csrfHeader] = 'x'
  }
  const hasBody = !['GET', 'HEAD'].includes(one.method)
  if (hasBody && one.contentType !== '') headers['content-type'] = one.contentType
  return {
    url: `${service.url}${consoleApi}${path}${query === '' ? '' : `?${query}`}`,
    method: one.method,
    headers,
    body: hasBody ? damaged(Buffer.from(jsonText(one.body)), one.damage) : undefined,
    chunked: false,
  }
}

function damaged(bytes: Buffer, damage: readonly Damage[]): Buffer {
  let result = bytes
  for (const { at, kind, byte } of damage) {
    const index = Math.floor(at * result.length)
    if (kind === 'cut') result = result.subarray(0, index)
    else {
      const rest = result.subarray(kind === 'flip' ? index + 1 : index)
      result = Buffer.concat([result.subarray(0, index), Buffer.of(byte), rest])
    }
  }
  return result
}

function send(agent: Agent, out: Outgoing): Promise<Reply> {
  return new Promise((answer, fail) => {
    const headers = { ...out.headers }
    // Without `expect` the client sends the body whatever the server thinks of it.
    delete headers['expect']
    // Left to itself, the client sends the body of a DELETE without any frame, as if it were the next request.
    if (out.body && out.chunked) headers['transfer-encoding'] = 'chunked'
    else if (out.body) headers['content-length'] = String(out.body.length)
    const sent = httpRequest(out.url, { method: out.method, headers, agent, timeout: hangMs }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        answer({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
      response.on('error', fail)
    })
    sent.on('timeout', () => sent.destroy(new Error(`no answer in ${hangMs} ms`)))
    sent.on('error', fail)
    sent.end(out.body)
  })
}

/** The first answer on the socket, or undefined when it was closed without one. Our end is closed after sending. */
function sendRaw(service: TestService, { text, damage }: RawCase): Promise<Reply | undefined> {
  const { port, hostname } = new URL(service.url)
  return new Promise((answer, fail) => {
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    const timer = setTimeout(() => {
      socket.destroy()
      fail(new Error(`the socket was still open after ${hangMs} ms`))
    }, hangMs)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      const got = Buffer.concat(chunks).toString('latin1')
      const status = /^HTTP\/1\.1 (\d{3})/.exec(got)?.[1]
      answer(status === undefined ? undefined : { status: Number(status), text: got })
    })
    socket.end(damaged(Buffer.from(text, 'latin1'), damage))
  })
}
