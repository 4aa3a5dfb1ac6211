// Paid calls over HTTP beside a bare handler that parses the same JSON and answers as many bytes, in alternating rounds:
// what the key check, the charge, the records and the end cost.
import { systemActor } from '../server/audit/audit.ts'
import { identity } from '../contract/identity.ts'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import { createTemplate } from '../server/sms/templates.ts'
import { compare } from './compare.ts'
import { startBare, startServer } from './processes.ts'
import { atLeast, type Part } from './report.ts'
import { onEngines, type Payer, type Storage } from './storage.ts'

export interface PaidCall {
  readonly name: string
  readonly path: string
  /** Speed promised of one process on SQLite, against the bare handler. */
  readonly promised?: number
  readonly body: (payer: Payer) => unknown
  readonly headers?: (payer: Payer) => Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, string>>
  readonly prepare?: (storage: Storage) => Promise<void>
}

/** A bare handler writes no log, and the log is another subject: without a line for each call. */
const quietly = { LOG_LEVEL: 'warn' }

const generate: PaidCall = {
  name: 'generate',
  path: shortlink.path,
  promised: 0.35,
  body: ({ username, key }) => ({
    username,
    api_key: key,
    action: 'generate',
    target_url: 'https://example.com/landing?from=bench',
    title: 'benchmark',
  }),
}

const send: PaidCall = {
  name: 'send_sms through the sandbox',
  path: sms.path,
  promised: 0.2,
  settings: quietly,
  body: ({ username, key }) => ({
    action: 'send_sms',
    username,
    api_key: key,
    phone_number: '13800138000',
    template_code: 'CODE',
    template_params: { code: '123456' },
  }),
  prepare: makeTemplate,
}

const verify: PaidCall = {
  name: 'identity verification through the sandbox',
  path: identity.path,
  settings: quietly,
  headers: ({ key }) => ({ api_key: key }),
  body: () => ({ name: '张三', idcard: '11010519491231002X' }),
}

export async function makeTemplate({ open, payer }: Storage): Promise<void> {
  const { db, close } = await open()
  await createTemplate(db, systemActor, {
    accountId: payer.id,
    code: 'CODE',
    name: '验证码',
    content: '您的验证码是${code}，5分钟内有效。',
    status: '审核通过',
  })
  await close()
}

export const paidCalls = { generate, send, verify }

export const generateBench = (part: Part) =>
  onEngines(part, (storage) => measureCall(part, storage, generate))

export const sendBench = (part: Part) => onEngines(part, (storage) => measureCall(part, storage, send))

export const identityBench = (part: Part) => onEngines(part, (storage) => measureCall(part, storage, verify))

async function measureCall(part: Part, storage: Storage, call: PaidCall): Promise<void> {
  await call.prepare?.(storage)
  for (const workers of part.scale.workers) await measureWith(part, storage, call, workers)
}

/** Also for a database that was filled before: `what` says with how much. */
export async function measureWith(
  part: Part,
  storage: Storage,
  call: PaidCall,
  workers: number,
  what = '',
): Promise<void> {
  const { payer, name: engine } = storage
  const service = await startServer({ ...storage.environment, ...call.settings }, workers)
  const headers = { 'content-type': 'application/json', ...call.headers?.(payer) }
  const body = JSON.stringify(call.body(payer))
  const answer = await fetch(service.url + call.path, { method: 'POST', headers, body })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${call.name} answers ${answer.status}: ${text.slice(0, 200)}`)
  const bare = await startBare('json', String(Buffer.byteLength(text)))
  try {
    const { promised } = call
    const isPromised = workers === 1 && storage.engine === 'sqlite' && what === ''
    await compare(
      part,
      { method: 'POST', paths: [call.path], headers, body, status: 200 },
      {
        name: 'bare handler',
        url: bare.url,
        pid: bare.pid,
        note: `same bodies, beside ${engine}, workers: ${workers}`,
      },
      [
        {
          name: `${call.name}${what}`,
          url: service.url,
          pid: service.pid,
          engine,
          workers,
          ...(promised !== undefined && isPromised
            ? { expects: (ratio) => [atLeast(promised, ratio, 'bare handler')] }
            : {}),
        },
      ],
    )
  } finally {
    await bare.end()
    await service.end()
  }
}
