// Changes by operators and their tokens with an Idempotency-Key: made once, and the stored response is sent again.
import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  claimOperatorCall,
  findOperatorCall,
  type OperatorCall,
  type PreviousOperatorCall,
  storeOperatorResponse,
} from '../audit/operator-call-store.ts'
import { createResponseCipher } from '../credits/charge/response-cipher.ts'
import { readIdempotencyKey } from '../http/call.ts'
import type { Services } from '../services.ts'
import { ConsoleProblem } from './problem.ts'
import type { SignedIn } from './sessions.ts'

/** Makes a change once for its Idempotency-Key, or sends the stored response again. */
export type MakeOnce = <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  made: { readonly signedIn: SignedIn; readonly input: unknown; readonly change: () => Promise<T> },
) => Promise<T>

export function createMakeOnce({ db, credits, secretKey }: Services): MakeOnce {
  const cipher = createResponseCipher(secretKey)

  function replay(
    reply: FastifyReply,
    call: OperatorCall & { readonly olderFingerprint: () => string },
    previous: PreviousOperatorCall,
  ): unknown {
    if (previous.fingerprint !== call.fingerprint && previous.fingerprint !== call.olderFingerprint())
      throw otherParameters()
    const stored = previous.response === null ? undefined : cipher.decrypt(previous.response)
    if (!stored) throw alreadyMade()
    reply.header('idempotent-replayed', 'true')
    return stored.body
  }

  return async (request, reply, { signedIn, input, change }) => {
    const key = readIdempotencyKey(request.headers['idempotency-key'])
    if (key === undefined) return change()
    const action = `${request.method} ${request.url}`
    const call = {
      callerId: signedIn.token?.id ?? -signedIn.user.id,
      key: credits.fingerprint('idempotency key', { key }),
      fingerprint: credits.fingerprint(action, { input }),
      olderFingerprint: () => credits.olderFingerprint(action, { input }),
      // Not the id of the request: a proxy may pass on what a program chose, and give several requests the same.
      requestId: randomUUID(),
    }
    type Output = Awaited<ReturnType<typeof change>>
    const previous = await findOperatorCall(db, call)
    if (previous) return replay(reply, call, previous) as Output
    signedIn.call = call
    const output = await change().catch(async (error: unknown) => {
      // Another call with the same key was faster: its change was made, this one was rolled back.
      const made = await findOperatorCall(db, call)
      if (!made || made.request_id === call.requestId) throw error
      return replay(reply, call, made) as Output
    })
    const response = cipher.encrypt({ status: 200, body: output })
    await db.write(async (tx) => {
      // A change without an audit row has not claimed the key yet.
      if (await claimOperatorCall(tx, call)) await storeOperatorResponse(tx, call, response)
    })
    return output
  }
}

function otherParameters(): ConsoleProblem {
  return new ConsoleProblem('other_parameters', {
    zh: '同一 Idempotency-Key 的参数不同',
    en: 'This Idempotency-Key came with other parameters',
  })
}

function alreadyMade(): ConsoleProblem {
  const text = {
    zh: '同一 Idempotency-Key 的更改已经完成，或仍在处理',
    en: 'The change with this Idempotency-Key was made, or is still running',
  }
  return new ConsoleProblem('conflict', text, { retryAfter: 1 })
}
