// Asking and telling from components: TanStack Query keyed by route, so that nothing is named twice.
import {
  keepPreviousData,
  QueryClient,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useRef } from 'react'
import type { Route } from '../../contract/console/route.ts'
import { type Prices, prices } from '../../contract/credits.ts'
import { type Me, sessionRoutes, type Start } from '../../contract/console/session.ts'
import { useLanguage } from '../frame/text.ts'
import { ApiError, ask, type Parts, rememberToken } from './client.ts'
import { viewedAccount } from './view-as.ts'

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // Asked for even when the browser thinks itself offline: waiting in silence helps nobody, and it may be wrong.
        networkMode: 'always',
        // What the service has answered stays answered; only a lost connection is worth another try.
        retry: (failures, error) => failures < 2 && error instanceof ApiError && error.code === 'offline',
      },
      mutations: { networkMode: 'always' },
    },
  })
}

interface UseAskOptions {
  readonly parts?: Parts
  readonly enabled?: boolean
  readonly refetchMs?: number | false
}

export type Asked<Got> = UseQueryResult<Got, Error>

export function useAsk<Sent, Got>(
  wanted: Route<Sent, Got>,
  sent: Sent,
  options: UseAskOptions = {},
): Asked<Got> {
  const { parts = {}, enabled = true, refetchMs = false } = options
  // Messages come in the language of the page.
  const language = useLanguage()
  return useQuery<Got>({
    queryKey: [wanted.path, parts, sent, language, viewedAccount() ?? ''],
    queryFn: ({ signal }) => ask(wanted, sent, { parts, signal }),
    enabled,
    refetchInterval: refetchMs,
    placeholderData: keepPreviousData,
  })
}

export interface Told<Sent> {
  readonly sent: Sent
  readonly parts?: Parts
}

/**
 * A changing call. Everything on the screen is asked for again afterwards. With `once`, a repeat of the same content
 * carries the same idempotency key until it succeeds.
 */
export function useTell<Sent, Got>(
  wanted: Route<Sent, Got>,
  options: { readonly once?: boolean } = {},
): UseMutationResult<Got, Error, Told<Sent>> {
  const client = useQueryClient()
  const attempt = useRef<{ content: string; key: string }>(undefined)
  return useMutation<Got, Error, Told<Sent>>({
    mutationFn: async ({ sent, parts = {} }) => {
      if (options.once !== true) return ask(wanted, sent, { parts })
      const content = JSON.stringify([sent, parts])
      if (attempt.current?.content !== content) attempt.current = { content, key: makeKey() }
      const { key } = attempt.current
      try {
        const got = await ask(wanted, sent, { parts, idempotencyKey: key })
        attempt.current = undefined
        return got
      } catch (error) {
        // Only where nobody knows what happened must the next try be the same call.
        if (!(error instanceof ApiError) || error.code !== 'offline') attempt.current = undefined
        throw error
      }
    },
    onSuccess: () => client.invalidateQueries(),
  })
}

function makeKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

const startKey = ['start']

export function useStart(): Asked<Start> {
  return useQuery<Start>({
    queryKey: startKey,
    queryFn: async ({ signal }) => {
      const start = await ask(sessionRoutes.start, {}, { signal })
      if (start.me) rememberToken(start.me)
      return start
    },
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
}

/** What calls cost here. The usual prices stand in only until the first answer is there. */
export function usePrices(): Prices {
  return useStart().data?.prices ?? prices
}

/** Who is signed in and whose things are shown. Only inside the frame, where somebody is. */
export function useMe(): Asked<Me> {
  return useAsk(sessionRoutes.me, {}, { refetchMs: 60_000 })
}

/** After signing in or up: the session is taken over without asking again. */
export function useTakeSession(): (me: Me) => void {
  const client = useQueryClient()
  return (me) => {
    rememberToken(me)
    client.setQueryData<Start>(startKey, (start) => (start ? { ...start, me } : start))
  }
}
