// Mail through the SMTP server of MAIL_URL.
import type { Transporter } from 'nodemailer'
import type { AlertSender, AlertMessage, AlertResult } from './port.ts'

export interface Mailer {
  /** Sends one mail; alerts also carry an unsubscribe link. */
  send(
    to: string,
    message: Omit<AlertMessage, 'unsubscribeUrl'> & { unsubscribeUrl?: string },
  ): Promise<AlertResult>
  close(): void
}

export function createMailer(mailUrl: string, from: string): Mailer {
  // Only services that send mail load it, and at the start: its files may be replaced while the service runs.
  const library = import('nodemailer')
  library.catch(() => undefined)
  let opened: Promise<Transporter> | undefined

  async function open(): Promise<Transporter> {
    const { createTransport } = await library
    return createTransport(transportUrl(mailUrl))
  }

  return {
    async send(to, { title, text, unsubscribeUrl }) {
      try {
        const transport = await (opened ??= open())
        await transport.sendMail({
          from,
          to,
          subject: title,
          text: unsubscribeUrl === undefined ? text : `${text}\n\n退订 / Unsubscribe: ${unsubscribeUrl}`,
          ...(unsubscribeUrl !== undefined && {
            headers: {
              'List-Unsubscribe': `<${unsubscribeUrl}>`,
              'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            },
          }),
        })
        return { kind: 'sent' }
      } catch (error) {
        return describeFailure(error)
      }
    },
    close: () => void opened?.then((transport) => transport.close()),
  }
}

export function createMailChannel(mailer: Mailer): AlertSender {
  return { kind: 'mail', intervalMs: 0, send: ({ target }, message) => mailer.send(target, message) }
}

/** Without `requireTLS`, smtp:// would stay in clear text if the server does not offer TLS. */
function transportUrl(mailUrl: string): string {
  const url = new URL(mailUrl)
  const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (url.protocol === 'smtp:' && !isLocal && !url.searchParams.has('requireTLS'))
    url.searchParams.set('requireTLS', 'true')
  for (const [name, ms] of [
    ['connectionTimeout', 10_000],
    ['greetingTimeout', 10_000],
    ['socketTimeout', 30_000],
  ] as const)
    if (!url.searchParams.has(name)) url.searchParams.set(name, String(ms))
  return url.href
}

/** Only a refused recipient is final: other failures are ours to repair, and the mail is tried again. */
function describeFailure(error: unknown): AlertResult {
  const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string }
  const reason = [code, responseCode].filter((part) => part !== undefined).join('_') || 'unknown_error'
  const isRecipientRefused = command === 'RCPT TO' && responseCode !== undefined && responseCode >= 500
  return isRecipientRefused ? { kind: 'rejected', reason } : { kind: 'retry', reason, waitMs: 0 }
}
