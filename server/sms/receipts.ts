// Delivery receipts: vendors push them to a URL that contains a secret, because most pushes are not signed.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Services } from '../services.ts'
import type { SendDecisions } from './decide.ts'
import { createReceiptFormats } from './gateways.ts'

export function registerReceipts(api: FastifyInstance, services: Services, decisions: SendDecisions): void {
  const { config, log } = services
  const formats = createReceiptFormats(config)
  const secret = digest(receiptSecret(services))

  api.post<{ Params: { gateway: string; secret: string } }>(
    '/receipts/sms/:gateway/:secret',
    {
      // Before the body is read. A wrong secret gets the same 404 as an unknown path.
      async onRequest(request, reply) {
        const isKnown = formats.has(request.params.gateway)
        if (!isKnown || !timingSafeEqual(digest(request.params.secret), secret)) return reply.callNotFound()
      },
    },
    async (request, reply) => {
      const { gateway } = request.params
      const format = formats.get(gateway)!
      const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
      const parsed = format.parse({ headers: request.headers, body })
      if (parsed.kind !== 'receipts') {
        log.warn({ requestId: request.id, gateway, problem: parsed.kind }, 'rejected a receipt push')
        return reply.code(parsed.kind === 'forged' ? 401 : 400).send(format.errorBody)
      }
      let changed = 0
      for (const status of parsed.statuses) if (await decisions.applyReceipt(gateway, status)) changed += 1
      log.info({ requestId: request.id, gateway, receipts: parsed.statuses.length, changed }, 'receipts')
      return reply.code(200).send(format.successBody)
    },
  )
}

/** The last part of the receipt URLs. */
export function receiptSecret({ config, secretFor }: Pick<Services, 'config' | 'secretFor'>): string {
  return config.SMS_RECEIPT_SECRET ?? secretFor('sms receipts')
}

/** Digests have equal lengths, so the comparison takes constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
