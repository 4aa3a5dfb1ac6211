// A DNS server on loopback that answers queries for texts and addresses from maps.
import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { isIPv4, isIPv6 } from 'node:net'

export interface DnsServer extends AsyncDisposable {
  /** For DNS_SERVERS. */
  readonly address: string
  /** Texts by name; a name without an entry does not exist. */
  readonly records: Map<string, readonly string[]>
  /** IPv4 and IPv6 addresses by name. */
  readonly addresses: Map<string, readonly string[]>
  /** Queries for this name and everything below get no answer. */
  silentBelow: string | undefined
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
    addresses: new Map(),
    silentBelow: undefined,
    failWith: undefined,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
  socket.on('message', (query, peer) => {
    const { name, end } = readName(query)
    if (server.silentBelow !== undefined && name.endsWith(server.silentBelow)) return
    const found = answersOf(server, name, query.readUInt16BE(end - 4))
    const code = server.failWith ?? (found === undefined ? 3 : 0)
    const answers = code === 0 ? (found ?? []) : []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers.length, 6)
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), peer.port)
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

const types = { a: 1, txt: 16, aaaa: 28 }

/** Undefined when the name does not exist. */
function answersOf(
  { records, addresses }: DnsServer,
  name: string,
  type: number,
): readonly Buffer[] | undefined {
  if (type === types.txt) return records.get(name)?.map(txtAnswer)
  const listed = addresses.get(name)
  if (type === types.a) return listed?.filter(isIPv4).map((address) => answer(type, fourBytes(address)))
  return listed?.filter(isIPv6).map((address) => answer(type, sixteenBytes(address)))
}

const fourBytes = (address: string) => Buffer.from(address.split('.').map(Number))

/** Only of addresses like `2001:db8::1`, with one gap. */
function sixteenBytes(address: string): Buffer {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return Buffer.from([...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function answer(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 255])
  return Buffer.concat([head, data])
}

function txtAnswer(text: string): Buffer {
  // Long texts come in parts of at most 255 bytes.
  const parts = text.match(/.{1,40}/gs) ?? ['']
  return answer(
    types.txt,
    Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)]))),
  )
}
