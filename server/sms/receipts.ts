// Delivery receipts: vendors push them to an address that holds a secret, because their pushes carry no signature.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Services } from '../services.ts'
import type { Decisions } from './decide.ts'
import { receiptForms } from './gateways.ts'

export function registerReceipts(api: FastifyInstance, services: Services, decisions: Decisions): void {
  const { config, log } = services
  const forms = receiptForms(config)
  const secret = digest(receiptSecret(services))

  api.post<{ Params: { gateway: string; secret: string } }>(
    '/receipts/sms/:gateway/:secret',
    async (request, reply) => {
      const { gateway } = request.params
      const form = forms.get(gateway)
      // A wrong secret is told nothing, not even that there is something here.
      if (!form || !timingSafeEqual(digest(request.params.secret), secret)) return reply.callNotFound()
      const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
      const reading = form.read({ headers: request.headers, body })
      if (reading.kind !== 'receipts') {
        log.warn({ requestId: request.id, gateway, problem: reading.kind }, 'receipts refused')
        return reply.code(reading.kind === 'forged' ? 401 : 400).send(form.refused)
      }
      let changed = 0
      for (const fate of reading.fates) if (await decisions.learn(gateway, fate)) changed += 1
      log.info({ requestId: request.id, gateway, receipts: reading.fates.length, changed }, 'receipts')
      return reply.code(200).send(form.received)
    },
  )
}

/** The last part of the receipt addresses. */
export function receiptSecret({ config, secretFor }: Pick<Services, 'config' | 'secretFor'>): string {
  return config.SMS_RECEIPT_SECRET ?? secretFor('sms receipts')
}

/** Equal lengths, so that comparing tells nothing about either. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
