// A way to a database that can be cut: loudly, or so that nobody notices because the sockets stay open.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CutProxy extends AsyncDisposable {
  /** The given address, through here. */
  readonly url: string
  /** Swallows everything, both ways, of those connections that have sent these words, now and until `heal`. */
  swallow(words: string): void
  heal(): void
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  sent: string
  isSwallowed: boolean
}

export async function cutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<Pair>()
  let words: string | undefined

  const judge = (pair: Pair) => {
    if (words !== undefined && pair.sent.includes(words)) pair.isSwallowed = true
  }

  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname)
    const pair: Pair = { client, server, sent: '', isSwallowed: false }
    pairs.add(pair)
    client.on('data', (data) => {
      // Enough to recognise it by.
      if (pair.sent.length < 20_000) pair.sent += data.toString('latin1')
      judge(pair)
      if (!pair.isSwallowed) server.write(data)
    })
    server.on('data', (data) => {
      if (!pair.isSwallowed) client.write(data)
    })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => {
        pairs.delete(pair)
        if (!pair.isSwallowed) other.destroy()
      })
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(target)
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    swallow(given) {
      words = given
      for (const pair of pairs) judge(pair)
    },
    heal() {
      words = undefined
    },
    async [Symbol.asyncDispose]() {
      proxy.close()
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
    },
  }
}
