// Limits of several workers of one machine, counted by the first process, which they ask over their own channel.
import type { LimitStore } from './port.ts'

type Question =
  | { readonly method: 'draw'; readonly words: Parameters<LimitStore['draw']> }
  | { readonly method: 'begin'; readonly words: Parameters<LimitStore['begin']> }
  | { readonly method: 'add'; readonly words: Parameters<LimitStore['add']> }
  | { readonly method: 'takeBack'; readonly words: Parameters<LimitStore['takeBack']> }

export interface LimitQuestion {
  readonly tollgate: 'limits?'
  readonly id: number
  readonly question: Question
}

export interface LimitAnswer {
  readonly tollgate: 'limits'
  readonly id: number
  readonly value: unknown
}

/** In the first process. */
export async function answerLimits(store: LimitStore, { id, question }: LimitQuestion): Promise<LimitAnswer> {
  return { tollgate: 'limits', id, value: await ask(store, question) }
}

function ask(store: LimitStore, question: Question): Promise<unknown> {
  switch (question.method) {
    case 'draw':
      return store.draw(...question.words)
    case 'begin':
      return store.begin(...question.words)
    case 'add':
      return store.add(...question.words)
    case 'takeBack':
      return store.takeBack(...question.words)
  }
}

/** In a worker. `listen` is given everything that the first process says. */
export function firstProcessStore(
  send: (question: LimitQuestion) => void,
  listen: (hear: (said: Partial<LimitAnswer> | undefined) => void) => void,
): LimitStore {
  const waiting = new Map<number, (value: unknown) => void>()
  let asked = 0

  listen((said) => {
    if (said?.tollgate !== 'limits' || said.id === undefined) return
    waiting.get(said.id)?.(said.value)
    waiting.delete(said.id)
  })

  function put<T>(question: Question): Promise<T> {
    asked += 1
    const id = asked
    return new Promise((resolve) => {
      waiting.set(id, resolve as (value: unknown) => void)
      send({ tollgate: 'limits?', id, question })
    })
  }

  return {
    draw: (...words) => put({ method: 'draw', words }),
    begin: (...words) => put({ method: 'begin', words }),
    takeBack: (counted, forgive) => put({ method: 'takeBack', words: [counted, forgive] }),
    add: (...words) => put({ method: 'add', words }),
    ping: async () => void (await put({ method: 'draw', words: [[]] })),
    close: () => undefined,
  }
}
