// A DNS server on loopback that answers TXT queries from a map.
import { once } from 'node:events'
import { createSocket } from 'node:dgram'

export interface DnsServer extends AsyncDisposable {
  /** For DNS_SERVERS. */
  readonly address: string
  /** Texts by name; a name without an entry does not exist. */
  readonly records: Map<string, readonly string[]>
  /** What the server answers instead: 2 is SERVFAIL. */
  failWith: number | undefined
}

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    records: new Map(),
    failWith: undefined,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
  socket.on('message', (query, peer) => {
    const { name, end } = readName(query)
    const texts = server.records.get(name)
    const code = server.failWith ?? (texts === undefined ? 3 : 0)
    const answers = code === 0 ? (texts ?? []) : []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers.length, 6)
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers.map(txtAnswer)]), peer.port)
  })
  return server
}

/** The name of the question, in lower case, and where the question ends. */
function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 }
}

function txtAnswer(text: string): Buffer {
  // Long texts come in parts of at most 255 bytes.
  const parts = text.match(/.{1,40}/gs) ?? ['']
  const data = Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])))
  const head = Buffer.from([0xc0, 0x0c, 0, 16, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 255])
  return Buffer.concat([head, data])
}
