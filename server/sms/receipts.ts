// Delivery receipts and replies: vendors push them to a URL that contains a secret, because most pushes are not signed.
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { isSameSecret } from '../encryption.ts'
import { bytesOf, decodeInTurn } from '../http/fastify-bodies.ts'
import { parseJson } from '../http/json.ts'
import type { Services } from '../services.ts'
import type { SendDecisions } from './decide.ts'
import type { EarlyReceipts } from './early-receipts.ts'
import { createReceiptSources } from './gateways.ts'
import type { DeliveryStatus, ReceiptRequest } from './port.ts'
import { storeReply } from './replies.ts'

interface ReceiptHandling {
  readonly decisions: SendDecisions
  readonly earlyReceipts: EarlyReceipts
}

export function registerReceipts(
  api: FastifyInstance,
  services: Services,
  { decisions, earlyReceipts }: ReceiptHandling,
): void {
  const { config, db, log, secretFor } = services
  const sources = createReceiptSources(config, secretFor)

  api.post<{ Params: { gateway: string; secret: string } }>(
    '/receipts/sms/:gateway/:secret',
    {
      // Before the body is read. A wrong secret gets the same 404 as an unknown path.
      async onRequest(request, reply) {
        const source = sources.get(request.params.gateway)
        if (!source || !isSameSecret(request.params.secret, source.secret)) return reply.callNotFound()
      },
    },
    async (request, reply) => {
      const { gateway } = request.params
      const { format } = sources.get(gateway)!
      const parsed = await decodeInTurn(services.http, request, bytesOf(request), (bytes) =>
        isUtf8(bytes)
          ? format.parse(receiptRequest(request.headers, bytes.toString('utf8')))
          : ({ kind: 'malformed' } as const),
      )
      if (parsed.kind !== 'receipts') {
        log.warn({ requestId: request.id, gateway, problem: parsed.kind }, 'rejected a receipt push')
        return reply.code(parsed.kind === 'forged' ? 401 : 400).send(format.errorBody)
      }
      let changed = 0
      const unknown: DeliveryStatus[] = []
      for (const status of parsed.statuses) {
        const result = await decisions.applyReceipt(gateway, status)
        if (result === 'changed') changed += 1
        if (result === 'unknown') unknown.push(status)
      }
      await earlyReceipts.keep(gateway, unknown)
      let stored = 0
      for (const one of parsed.replies) if (await storeReply(db, gateway, one)) stored += 1
      const counts = {
        receipts: parsed.statuses.length,
        changed,
        unknown: unknown.length,
        replies: parsed.replies.length,
        stored,
      }
      log.info({ requestId: request.id, gateway, ...counts }, 'receipts')
      return reply.code(200).send(format.successBody)
    },
  )
}

/** Anyone who learns the URL can send a megabyte of names, so the limits are checked before the body is parsed. */
export function receiptRequest(headers: ReceiptRequest['headers'], body: string): ReceiptRequest {
  const json = () => {
    try {
      return parseJson(body)
    } catch {
      return undefined
    }
  }
  return { headers, body, json }
}
