// A small client of Redis and Valkey: one connection, commands in a row, answers in the same row (RESP 2). Two scripts are all
// that is asked of it, which is why it is these lines and not a package.
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export type Answer = string | number | null | RespError | readonly Answer[]

/** What the server refused. */
export class RespError extends Error {}

interface Waiting {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** A connection on which an answer is missing for so long is given up. */
const patienceMs = 2_000

export interface RespClient {
  send(words: readonly (string | number)[]): Promise<Answer>
  close(): void
}

export function openResp(address: string): RespClient {
  const url = new URL(address)
  let connection: Connection | undefined

  return {
    async send(words) {
      if (!connection || connection.isOver()) connection = openConnection(url)
      return connection.send(words)
    },
    close: () => connection?.close(),
  }
}

interface Connection {
  send(words: readonly (string | number)[]): Promise<Answer>
  isOver(): boolean
  close(): void
}

function openConnection(url: URL): Connection {
  const where = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 6379) }
  const socket: Socket =
    url.protocol === 'rediss:' ? connectTls({ ...where, servername: where.host }) : connectPlain(where)
  socket.setNoDelay(true)
  // It holds nothing that a process that wants to end would have to wait for.
  socket.unref()
  const waiting: Waiting[] = []
  const reader = answerReader()
  let failure: Error | undefined

  function fail(error: Error): void {
    failure ??= error
    socket.destroy()
    for (const { reject } of waiting.splice(0)) reject(failure)
  }

  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  socket.on('timeout', () => {
    if (waiting.length > 0) fail(new Error('no answer'))
  })
  socket.setTimeout(patienceMs)
  socket.on('data', (data) => {
    try {
      for (const answer of reader.read(data)) {
        const first = waiting.shift()
        if (answer instanceof RespError) first?.reject(answer)
        else first?.resolve(answer)
      }
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)))
    }
  })

  function send(words: readonly (string | number)[]): Promise<Answer> {
    if (failure) return Promise.reject(failure)
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      const parts = words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`)
      socket.write(`*${words.length}\r\n${parts.join('')}`)
    })
  }

  // Sent first, before the connection stands; when one is refused nothing else may be asked.
  const user = decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  if (password !== '') send(['AUTH', ...(user === '' ? [] : [user]), password]).catch(fail)
  const database = url.pathname.slice(1)
  if (database !== '') send(['SELECT', database]).catch(fail)

  return { send, isOver: () => failure !== undefined, close: () => fail(new Error('closed')) }
}

const cr = 13

/** Takes bytes as they come and gives whole answers. */
export function answerReader(): { read(data: Buffer): Answer[] } {
  let bytes: Buffer = Buffer.alloc(0)
  let at = 0

  /** Undefined when the rest is still on its way. */
  function line(): string | undefined {
    const end = bytes.indexOf(cr, at)
    if (end === -1 || end + 1 >= bytes.length) return undefined
    const text = bytes.toString('utf8', at, end)
    at = end + 2
    return text
  }

  function answer(): Answer | undefined {
    const head = line()
    if (head === undefined) return undefined
    const rest = head.slice(1)
    switch (head[0]) {
      case '+':
        return rest
      case '-':
        return new RespError(rest)
      case ':':
        return Number(rest)
      case '$':
        return bulk(Number(rest))
      case '*':
        return list(Number(rest))
      default:
        throw new Error('not an answer of Redis')
    }
  }

  function bulk(length: number): string | null | undefined {
    if (length < 0) return null
    if (at + length + 2 > bytes.length) return undefined
    const text = bytes.toString('utf8', at, at + length)
    at += length + 2
    return text
  }

  function list(length: number): Answer[] | null | undefined {
    if (length < 0) return null
    const items: Answer[] = []
    for (let index = 0; index < length; index += 1) {
      const item = answer()
      if (item === undefined) return undefined
      items.push(item)
    }
    return items
  }

  return {
    read(data) {
      bytes = bytes.length === 0 ? data : Buffer.concat([bytes, data])
      const answers: Answer[] = []
      for (;;) {
        const start = at
        const next = at < bytes.length ? answer() : undefined
        if (next === undefined) {
          at = start
          break
        }
        answers.push(next)
      }
      bytes = bytes.subarray(at)
      at = 0
      return answers
    },
  }
}
