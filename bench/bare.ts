// The reference server: plain node:http in a separate process (`bare.ts redirect FILE`, `json BYTES` or `batch DATABASE`).
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'

const [kind, argument] = process.argv.slice(2)

/** Redirects from a Map. Each line of the file is a path and its target. */
function redirects(file: string): RequestListener {
  const targets = new Map<string, string>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [path, target] = line.split(' ')
    if (path && target) targets.set(path, target)
  }
  return (request, response) => {
    const location = targets.get(request.url ?? '')
    if (location === undefined) response.writeHead(404).end()
    else response.writeHead(302, { Location: location, 'Content-Length': 0 }).end()
  }
}

/** Parses the JSON body and responds with JSON of the given size. */
function json(bytes: number): RequestListener {
  const responseText = JSON.stringify({ success: true, data: 'x'.repeat(Math.max(0, bytes - 26)) })
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(typeof body === 'object' ? 200 : 400, {
        'Content-Type': 'application/json',
        'Content-Length': responseText.length,
      })
      response.end(responseText)
    })
  }
}

interface BareMessage {
  readonly phone_number: string
  readonly template_params: unknown
}

/**
 * What a service that sells messages has to keep at least: the balance is charged once, and the batch and each of its messages
 * are one row without an index. No ledger, no operations, no queue, no limits, no checks.
 */
const bareTables = [
  'CREATE TABLE IF NOT EXISTS bare_balance (id integer PRIMARY KEY, remaining bigint NOT NULL)',
  'INSERT INTO bare_balance (id, remaining) VALUES (1, 1000000000) ON CONFLICT DO NOTHING',
  'CREATE TABLE IF NOT EXISTS bare_batch (total integer NOT NULL)',
  'CREATE TABLE IF NOT EXISTS bare_message (phone text NOT NULL, params text NOT NULL)',
]
const chargeBalance = 'UPDATE bare_balance SET remaining = remaining - '
const insertBatch = 'INSERT INTO bare_batch (total) VALUES '
const insertMessages = 'INSERT INTO bare_message (phone, params)'

/** Parses the messages of a batch, and charges and inserts them in one durable transaction. */
async function batch(database: string): Promise<RequestListener> {
  const insert = await (database.startsWith('postgres') ? openBarePostgres : openBareSqlite)(database)
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: BareMessage[] }
      void insert(messages).then(() => {
        response.writeHead(200, { 'Content-Type': 'application/json' })
        response.end(JSON.stringify({ code: 0, data: { accepted: messages.length } }))
      })
    })
  }
}

type InsertMessages = (messages: readonly BareMessage[]) => Promise<void>

async function openBareSqlite(file: string): Promise<InsertMessages> {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = FULL')
  for (const sql of bareTables) db.exec(sql)
  const charge = db.prepare(`${chargeBalance}? WHERE id = 1`)
  const insertOne = db.prepare(`${insertBatch}(?)`)
  const statement = db.prepare(`${insertMessages} VALUES (?, ?)`)
  return async (messages) => {
    db.exec('BEGIN IMMEDIATE')
    charge.run(messages.length)
    insertOne.run(messages.length)
    for (const { phone_number: phone, template_params: params } of messages) {
      statement.run(phone, JSON.stringify(params))
    }
    db.exec('COMMIT')
  }
}

async function openBarePostgres(url: string): Promise<InsertMessages> {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const sql of bareTables) await client.query(sql)
  return async (messages) => {
    const phones = messages.map(({ phone_number: phone }) => phone)
    const params = messages.map(({ template_params: one }) => JSON.stringify(one))
    await client.query('BEGIN')
    await client.query(`${chargeBalance}$1 WHERE id = 1`, [messages.length])
    await client.query(`${insertBatch}($1)`, [messages.length])
    await client.query(`${insertMessages} SELECT * FROM unnest($1::text[], $2::text[])`, [phones, params])
    await client.query('COMMIT')
  }
}

const listeners: Readonly<Record<string, (given: string) => RequestListener | Promise<RequestListener>>> = {
  redirect: redirects,
  json: (bytes) => json(Number(bytes)),
  batch,
}

const server = createServer(await listeners[kind!]!(argument!))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`ready ${typeof address === 'object' && address ? address.port : 0}\n`)
})
