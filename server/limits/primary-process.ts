// Limits of several workers on one machine: the primary process counts, the workers ask it over the cluster's IPC channel.
import type { LimitStore } from './port.ts'

type LimitCall =
  | { readonly method: 'draw'; readonly args: Parameters<LimitStore['draw']> }
  | { readonly method: 'attempt'; readonly args: Parameters<LimitStore['attempt']> }
  | { readonly method: 'addFailures'; readonly args: Parameters<LimitStore['addFailures']> }
  | { readonly method: 'undo'; readonly args: Parameters<LimitStore['undo']> }

export interface LimitRequest {
  readonly tollgate: 'limit-request'
  readonly id: number
  readonly call: LimitCall
}

export interface LimitResponse {
  readonly tollgate: 'limit-response'
  readonly id: number
  readonly value: unknown
}

/** In the primary process. */
export async function answerLimitRequest(
  store: LimitStore,
  { id, call }: LimitRequest,
): Promise<LimitResponse> {
  return { tollgate: 'limit-response', id, value: await run(store, call) }
}

function run(store: LimitStore, call: LimitCall): Promise<unknown> {
  switch (call.method) {
    case 'draw':
      return store.draw(...call.args)
    case 'attempt':
      return store.attempt(...call.args)
    case 'addFailures':
      return store.addFailures(...call.args)
    case 'undo':
      return store.undo(...call.args)
  }
}

/** In a worker. `onMessage` registers a listener for messages of the primary process. */
export function createPrimaryStore(
  send: (request: LimitRequest) => void,
  onMessage: (listener: (message: Partial<LimitResponse> | undefined) => void) => void,
): LimitStore {
  const pending = new Map<number, (value: unknown) => void>()
  let lastId = 0

  onMessage((message) => {
    if (message?.tollgate !== 'limit-response' || message.id === undefined) return
    pending.get(message.id)?.(message.value)
    pending.delete(message.id)
  })

  function request<T>(call: LimitCall): Promise<T> {
    lastId += 1
    const id = lastId
    return new Promise((resolve) => {
      pending.set(id, resolve as (value: unknown) => void)
      send({ tollgate: 'limit-request', id, call })
    })
  }

  return {
    draw: (...args) => request({ method: 'draw', args }),
    attempt: (...args) => request({ method: 'attempt', args }),
    undo: (counted, resetKey) => request({ method: 'undo', args: [counted, resetKey] }),
    addFailures: (...args) => request({ method: 'addFailures', args }),
    ping: async () => void (await request({ method: 'draw', args: [[]] })),
    close: () => undefined,
  }
}
