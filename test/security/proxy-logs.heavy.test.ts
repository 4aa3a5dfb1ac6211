// What nginx writes with deploy/nginx.conf: no log file contains a key, a name, an ID number or a receipt secret.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { domainCheck } from '../../contract/domain-check.ts'
import { identity } from '../../contract/identity.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { type Nginx, useNginx } from '../support/nginx.ts'
import { freePort } from '../support/service.ts'

const seeded = {
  key: 'tg_SEEDEDkey0000000000000000000000000000000000000000000',
  name: '张三丰秘密',
  idcard: '110105194912310021',
  phone: '13800138011',
  receiptSecret: 'receipt-secret-0123456789',
  username: 'seeded-user-name',
} as const

/** Every form in which a value may appear: as it is, percent-encoded, and escaped by nginx. */
const forms = Object.values(seeded).flatMap((value) => {
  const bytes = Buffer.from(value)
  return [
    value,
    encodeURIComponent(value),
    bytes.toString('latin1'),
    [...bytes].map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : hex(byte))).join(''),
  ]
})

function hex(byte: number): string {
  return `\\x${byte.toString(16).toUpperCase()}`
}

const query =
  `username=${seeded.username}&api_key=${seeded.key}&name=${encodeURIComponent(seeded.name)}` +
  `&idcard=${seeded.idcard}&phone_number=${seeded.phone}`
const paths = [sms.path, shortlink.path, identity.path, domainCheck.path]

/** Sends bytes and reads until the peer closes the connection. */
function exchange(port: number, text: string, isTls: boolean): Promise<string> {
  return new Promise((resolve) => {
    let response = ''
    const options = { port, host: '127.0.0.1' }
    const socket = isTls ? connectTls({ ...options, rejectUnauthorized: false }) : connect(options)
    socket.once(isTls ? 'secureConnect' : 'connect', () => socket.write(text))
    socket.setTimeout(1_500, () => socket.destroy())
    socket.on('data', (part: Buffer) => (response += part.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(response))
  })
}

/** A service that fails in the way that the query names. */
async function startFailingBackend(): Promise<AsyncDisposable & { readonly host: string }> {
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const { url = '' } = incoming
    if (url.includes('fail=cut')) incoming.socket.destroy()
    else if (url.includes('fail=half')) {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{')
      setTimeout(() => incoming.socket.destroy(), 20)
    } else if (url.includes('fail=silent')) return
    else if (url.includes('fail=header')) response.writeHead(200, { x: 'a'.repeat(60_000) }).end()
    else if (url.includes('fail=garbage')) incoming.socket.end('garbage\r\n\r\n')
    else {
      incoming.resume()
      incoming.on('end', () => response.end('{}'))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function assertNothingLogged(nginx: Nginx): Promise<void> {
  const logs = await nginx.allLogs()
  assert.ok((logs.get('tollgate.log') ?? '').split('\n').length > 3, 'the access log is written')
  for (const [file, text] of logs) {
    for (const form of forms) {
      const at = text.indexOf(form)
      assert.equal(at, -1, `${file}: ${text.slice(Math.max(0, at - 300), at + 100)}`)
    }
  }
}

describe('logs of nginx', () => {
  const kit = useNginx()
  const { send } = kit

  /** A short read timeout makes the silent backend time out quickly. */
  const quick = (text: string) =>
    text.replace('proxy_read_timeout 60s;', 'proxy_read_timeout 300ms;\n  limit_req zone=test;') +
    '\nlimit_req_zone $binary_remote_addr zone=test:1m rate=1000r/s;'

  it('61 contain no secret of calls that succeed, fail upstream or are redirected', async (context) => {
    if (kit.skip(context)) return
    await using backend = await startFailingBackend()
    await using nginx = await kit.start(backend.host, quick)
    const receipt = `/receipts/sms/aliyun/${seeded.receiptSecret}`
    const statuses = new Set<number>()
    const pages = ['/console/', `/docs/${seeded.idcard}`, `/console/sms/a${seeded.phone}`]
    for (const path of [...paths, '/abcdefg', ...pages, '/openapi.json', receipt]) {
      for (const failure of ['none', 'cut', 'half', 'silent', 'header', 'garbage']) {
        const sent = send(`${nginx.url}${path}?${query}&fail=${failure}`, {
          headers: { referer: `https://x/?${query}` },
        })
        statuses.add(
          await sent.then(
            ({ status }) => status,
            () => 0,
          ),
        )
      }
      const plain = await fetch(`http://127.0.0.1:${nginx.plainPort}${path}?${query}`, { redirect: 'manual' })
      assert.equal(plain.status, 308)
      await send(`${nginx.url}${path}`, { method: 'POST', body: query })
    }
    assert.deepEqual(statuses, new Set([200, 0, 504, 502]), 'every failure happened')
    await assertNothingLogged(nginx)
    const log = (await nginx.allLogs()).get('tollgate.log')!
    assert.match(log, /"GET \/receipts\/sms\/aliyun\/\*\*\*" 200/)
    assert.match(log, /"GET \/api\/id_verification_api\.php" 502/)
    assert.match(log, /"GET \/abcdefg" 308/)
  })

  it('61 contain no secret of a request to an unreachable service', async (context) => {
    if (kit.skip(context)) return
    await using nginx = await kit.start(`127.0.0.1:${await freePort()}`)
    for (const path of paths) {
      assert.equal((await send(`${nginx.url}${path}?${query}`)).status, 502)
      const posted = await send(`${nginx.url}${path}`, { method: 'POST', body: query })
      assert.equal(posted.status, 502)
    }
    await assertNothingLogged(nginx)
  })

  it('61 contain no secret of requests that nginx rejects itself', async (context) => {
    if (kit.skip(context)) return
    await using backend = await startFailingBackend()
    await using nginx = await kit.start(
      backend.host,
      (text) =>
        text
          .replace('limit_conn tollgate_connections 500;', 'limit_conn tollgate_connections 1;')
          .replace('proxy_read_timeout 60s;', 'proxy_read_timeout 1s;\n  limit_req zone=test;') +
        '\nlimit_req_zone $binary_remote_addr zone=test:1m rate=1r/m;',
    )
    const target = `${sms.path}?${query}`
    const head = `Host: api.example.com\r\napi_key: ${seeded.key}\r\n`
    const rejected = [
      `GET ${target} HTTP/1.1\r\n\r\n`,
      `GET ${target} HTTP/9.9\r\n${head}\r\n`,
      `GET ${target}\r\n`,
      `get ${target} HTTP/1.1\r\n${head}\r\n`,
      `GET ${target} XXXX\r\n${head}\r\n`,
      `GET  ${target} HTTP/1.1\r\n${head}\r\n`,
      `GET ${target} HTTP/1.1\r\nHost: a b\r\n${head}\r\n`,
      `GET ${target} HTTP/1.1\r\n${head}Bad Header: ${seeded.idcard}\r\n\r\n`,
      `GET ${target} HTTP/1.1\r\n${head}api_key${seeded.key}\r\n\r\n`,
      `GET ${target} HTTP/1.1\r\n${head}X: ${seeded.key}${'a'.repeat(40_000)}\r\n\r\n`,
      `GET ${target}&x=${'a'.repeat(40_000)} HTTP/1.1\r\n${head}\r\n`,
      `GET ${sms.path}%3F${query} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
      `GET /${seeded.key}?${query} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
      `GET /api/../../${seeded.idcard}?${query} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
      `GET /%zz?${query} HTTP/1.1\r\n${head}\r\n`,
      `GET https://api.example.com${target} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
      `GET ${target} HTTP/1.1\r\nHost: ${seeded.username}.example.org\r\nConnection: close\r\n\r\n`,
      `TRACE ${target} HTTP/1.1\r\n${head}\r\n`,
      `CONNECT ${target} HTTP/1.1\r\n${head}\r\n`,
      `POST ${target} HTTP/1.1\r\n${head}Content-Length: 99999999999\r\n\r\n${query}`,
      `POST ${target} HTTP/1.1\r\n${head}Content-Length: -1\r\n\r\n${query}`,
      `POST ${target} HTTP/1.1\r\n${head}Transfer-Encoding: bad\r\n\r\n${query}`,
      `POST ${target} HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n${query}`,
      `POST ${target} HTTP/1.1\r\n${head}Content-Length: 5000\r\n\r\n${query}`,
      `${query}\r\n\r\n`,
    ]
    await Promise.all(
      rejected.flatMap((text) => [
        exchange(nginx.plainPort, text, false),
        exchange(nginx.port, text, true),
        exchange(nginx.port, text, false),
      ]),
    )
    const many = await Promise.all(
      Array.from({ length: 20 }, () => send(`${nginx.url}${target}&fail=silent`, { from: '127.0.0.9' })),
    )
    assert.ok(many.some(({ status }) => status === 429))
    await assertNothingLogged(nginx)
  })

  it('61 contain no secret, and no body is written to a file, when temporary files fail', async (context) => {
    if (kit.skip(context)) return
    await using backend = await startFailingBackend()
    await using nginx = await kit.start(backend.host)
    // A file instead of a folder: nginx cannot create a temporary file, and reports that on the level crit.
    await rm(join(nginx.folder, 'client_body'), { recursive: true })
    await writeFile(join(nginx.folder, 'client_body'), '')
    const target = `${nginx.url}${sms.path}?${query}`
    const sizes = [10, 20_000, 1_000_000, 3_000_000]
    const statuses: number[] = []
    for (const size of sizes) {
      const body = `${query}&x=${'a'.repeat(size)}`
      statuses.push((await send(target, { method: 'POST', body })).status)
    }
    assert.deepEqual(statuses, [200, 200, 200, 500], 'bodies up to 1 MiB stay in memory')
    await assertNothingLogged(nginx)
  })
})
