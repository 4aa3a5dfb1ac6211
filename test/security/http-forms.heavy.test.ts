// Unusual but valid requests, ambiguous ones, clients that do not read, and the public files, over raw sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { shortlink } from '../../contract/shortlink.ts'
import { post, startService, type TestService } from '../support/service.ts'

describe('requests over raw sockets', () => {
  let service: TestService
  let host: string
  before(async () => {
    service = await startService('sqlite', { SEND_TIMEOUT_S: '1', SECURITY_CONTACT: 'security@example.com' })
    ;({ host } = new URL(service.url))
  })
  after(() => service[Symbol.asyncDispose]())

  function open(): Socket {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    return socket
  }

  /** Sends one request and reads until the connection is closed. */
  async function exchange(line: string, headers: readonly string[] = [`Host: ${host}`]): Promise<string> {
    const socket = open()
    socket.write(`${line} HTTP/1.1\r\n${[...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1')
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString('utf8')
  }
  const statusOf = (response: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1])
  const bodyOf = (response: string) => response.slice(response.indexOf('\r\n\r\n') + 4)

  it('43 an absolute URL is served like its path', async () => {
    const account = await service.account({ short_link: 5 })
    const { body } = await post(`${service.url}${shortlink.path}`, {
      username: account.username,
      api_key: account.key,
      action: 'generate',
      target_url: 'https://example.com/here',
      title: 't',
    })
    const { pathname } = new URL(body.data.a_url)
    const link = await exchange(`GET http://${host}${pathname} `.trim())
    assert.equal(statusOf(link), 302)
    assert.match(link, /\r\nlocation: https:\/\/example\.com\/here\r\n/i)
    for (const [target, status] of [
      [`http://${host}/livez`, 200],
      [`HTTP://other.test/livez`, 200],
      [`https://${host}`, 200],
      [`http://${host}?a=1`, 200],
      [`http://${host}/docs/`, 200],
      [`http://${host}/console/api/start`, 200],
      [`http://${host}${shortlink.path}`, 405],
      [`http://${host}/no/such`, 404],
      ['http:///livez', 400],
      ['http://a@b.test/livez', 400],
      ['http:livez', 400],
    ] as const) {
      assert.equal(statusOf(await exchange(`GET ${target}`)), status, target)
    }
  })

  it('43 several Host headers are rejected', async () => {
    for (const path of ['/livez', '/', shortlink.path, '/console/', '/AbCdEfG']) {
      for (const second of [host, 'other.test']) {
        const response = await exchange(`GET ${path}`, [`Host: ${host}`, `hOST: ${second}`])
        assert.equal(statusOf(response), 400, path)
        assert.match(response, /\r\nx-request-id: [0-9a-f-]{36}\r\n/i)
      }
    }
  })

  it('44 HEAD on a public page has the status and headers of GET and no body', async () => {
    const paths = [
      '/',
      '/livez',
      '/readyz',
      '/docs/',
      '/docs',
      '/docs/en/',
      '/openapi.json',
      '/docs/postman.json',
    ]
    paths.push('/console', '/console/', '/console/sms', '/console/gate.svg', '/console/none.js')
    paths.push(
      '/robots.txt',
      '/favicon.ico',
      '/favicon.svg',
      '/.well-known/security.txt',
      '/AbCdEfG',
      '/none',
    )
    // An empty body needs no length in the response to HEAD.
    const varying = /^(?:(?:x-request-id|date): .*|content-length: 0)\r\n/gim
    for (const path of paths) {
      const get = await exchange(`GET ${path}`)
      const head = await exchange(`HEAD ${path}`)
      assert.equal(bodyOf(head), '', path)
      assert.equal(statusOf(head), statusOf(get), path)
      const headersOf = (text: string) => text.slice(0, text.indexOf('\r\n\r\n')).replaceAll(varying, '')
      assert.equal(headersOf(head).toLowerCase(), headersOf(get).toLowerCase(), path)
    }
    for (const path of ['/', '/livez', '/readyz', '/console/', '/docs/']) {
      assert.equal(statusOf(await exchange(`HEAD ${path}`)), 200, path)
    }
    assert.equal(statusOf(await exchange(`HEAD ${shortlink.path}`)), 405)
  })

  it(
    '45 a connection whose client does not read is closed, others are not',
    { timeout: 60_000 },
    async () => {
      for (const [path, size] of [
        ['/openapi.json', 200],
        ['/docs/', 200],
        ['/AbCdEfG', 40_000],
        [shortlink.path, 40_000],
        ['/console/api/start', 20_000],
      ] as const) {
        const socket = open()
        socket.pause()
        const closed = new Promise((resolve) => socket.on('close', resolve))
        // Much more than the buffers of the operating system hold.
        const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
        for (let i = 0; i < size && !socket.destroyed; i += 100) socket.write(request.repeat(100))
        // Without reading, the end of the connection shows only as an error of a later write.
        while (!socket.destroyed) {
          socket.write(request)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        await closed
      }
      const slow = open()
      slow.write(`GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      await once(slow, 'data')
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      slow.write(`GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      await once(slow, 'data')
      slow.destroy()
    },
  )

  it('serves robots.txt, security.txt and the icon', async () => {
    const robots = await fetch(`${service.url}/robots.txt`)
    assert.match(robots.headers.get('content-type') ?? '', /^text\/plain/)
    assert.match(await robots.text(), /^User-agent: \*\nDisallow: \/api\/\n/)
    const contact = await (await fetch(`${service.url}/.well-known/security.txt`)).text()
    assert.match(contact, /^Contact: mailto:security@example\.com\nExpires: \d{4}-\d\d-\d\dT00:00:00\.000Z\n/)
    assert.ok(contact.includes(`\nCanonical: ${service.url}/.well-known/security.txt\n`))
    const expires = Date.parse(/Expires: (.+)/.exec(contact)![1]!)
    assert.ok(expires > Date.now() && expires < Date.now() + 365 * 86_400_000)
    for (const path of ['/favicon.ico', '/favicon.svg']) {
      const icon = await fetch(`${service.url}${path}`)
      assert.equal(icon.headers.get('content-type'), 'image/svg+xml')
      assert.match(await icon.text(), /^<svg /)
    }
  })

  it('tells a form on the short link endpoint that only JSON is read', async () => {
    const account = await service.account({ short_link: 5 })
    const values = { username: account.username, api_key: account.key, action: 'generate' }
    const multipart = new FormData()
    for (const [name, value] of Object.entries(values)) multipart.set(name, value)
    for (const body of [new URLSearchParams(values), multipart]) {
      const response = await fetch(`${service.url}${shortlink.path}`, { method: 'POST', body })
      assert.equal(response.status, 400)
      const { success, message } = (await response.json()) as { success: boolean; message: string }
      assert.equal(success, false)
      assert.match(message, /^缺少必要参数：.*只支持 JSON 请求体/)
    }
    // Headers and the query are still read.
    const query = new URLSearchParams({ ...values, target_url: 'https://example.com/', title: 't' })
    const accepted = await fetch(`${service.url}${shortlink.path}?${query.toString()}`, {
      method: 'POST',
      body: new URLSearchParams({ ignored: '1' }),
    })
    assert.equal(accepted.status, 200)
  })
})

it('security.txt does not exist without a contact', async () => {
  await using service = await startService('sqlite')
  const response = await fetch(`${service.url}/.well-known/security.txt`)
  assert.equal(response.status, 404)
})
