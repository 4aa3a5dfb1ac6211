// A mail server on loopback that keeps what it receives.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { until } from './until.ts'

export interface Mail {
  readonly to: string
  readonly text: string
}

export interface Mailbox {
  /** The settings of a service that sends its mail here. */
  readonly environment: Readonly<Record<string, string>>
  /** Waits for the next mail to the address and takes it. */
  next(to: string): Promise<Mail>
  /** Mails to the address that were not taken. */
  count(to: string): number
  close(): Promise<void>
}

export async function openMailbox(): Promise<Mailbox> {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const to = session.envelope.rcptTo[0]!.address.toLowerCase()
        mails.push({ to, text: decode(Buffer.concat(chunks).toString('latin1')) })
        done()
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const indexOf = (to: string) => mails.findIndex((mail) => mail.to === to.toLowerCase())
  return {
    environment: {
      MAIL_URL: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
      MAIL_FROM: 'service@example.com',
    },
    async next(to) {
      await until(() => indexOf(to) >= 0)
      return mails.splice(indexOf(to), 1)[0]!
    },
    count: (to) => mails.filter((mail) => mail.to === to.toLowerCase()).length,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

/** The body of a mail with one part, in either transfer encoding. */
function decode(mail: string): string {
  const split = mail.indexOf('\r\n\r\n')
  const head = mail.slice(0, split)
  const body = mail.slice(split + 4)
  if (/transfer-encoding: base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8')
  const bytes = /transfer-encoding: quoted-printable/i.test(head)
    ? body
        .replaceAll(/=\r\n/g, '')
        .replaceAll(/=([\dA-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : body
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
}
