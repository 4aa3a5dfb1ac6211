// Mail to a server on another machine is never sent in clear text.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { it } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { createMailer } from './mail.ts'

it('requires STARTTLS of servers that are not on this machine', async (context) => {
  // An address of this machine that is not loopback stands for another machine.
  const address = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address
  if (address === undefined) return context.skip('no address besides loopback')
  let mails = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      mails += 1
      stream.resume()
      stream.on('end', () => done())
    },
  })
  server.listen(0, '0.0.0.0')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const send = async (host: string) => {
    const mailer = createMailer(`smtp://${host}:${port}`, 'a@example.com')
    const { kind } = await mailer.send('b@example.com', { title: 't', text: 'secret' })
    mailer.close()
    return kind
  }
  assert.equal(await send(address), 'retry')
  assert.equal(mails, 0)
  assert.equal(await send('127.0.0.1'), 'sent')
  assert.equal(mails, 1)
  await new Promise<void>((resolve) => server.close(() => resolve()))
})
