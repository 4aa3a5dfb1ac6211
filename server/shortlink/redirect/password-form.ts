// Reads the password that a visitor of a link has submitted.
import type { IncomingMessage } from 'node:http'

/** The longest password (`linkLimits`) has less than a kilobyte when it is percent-encoded. */
const maxFormBytes = 4_096

export class PasswordFormTooLarge extends Error {}

/** Empty when the form has none. */
export async function readPasswordForm(request: IncomingMessage): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > maxFormBytes) throw new PasswordFormTooLarge()
  const chunks: Buffer[] = []
  let size = 0
  if (!request.readableEnded) {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxFormBytes) throw new PasswordFormTooLarge()
      chunks.push(chunk)
    }
  }
  // As the API trims it when it is set.
  return (new URLSearchParams(Buffer.concat(chunks).toString('utf8')).get('password') ?? '').trim()
}
