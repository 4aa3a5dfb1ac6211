// React hooks for API queries and mutations: TanStack Query, keyed by the route.
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
import { sessionRoutes } from '../../contract/console/session.ts'
import type { Me, Start } from '../../contract/console/responses/session.ts'
import { type Prices, prices } from '../../contract/credits.ts'
import { useLanguage } from '../frame/i18n.ts'
import { dropFirstReads, rememberSignedIn, takeFirstStart } from './first-start.ts'
import { callApi, isUncertain, type PathParams, setCsrfToken } from './client.ts'
import { viewedAccount } from './view-as.ts'

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // The browser's online state can be wrong, and a paused query shows no error.
        networkMode: 'always',
        retry: (failures, error) => failures < 2 && isUncertain(error),
      },
      mutations: { networkMode: 'always' },
    },
  })
}

interface ApiQueryOptions<Result> {
  /** A result that is known before the first request, and when it was read. */
  readonly first?: Result
  readonly firstAt?: number
  readonly params?: PathParams
  readonly enabled?: boolean
  readonly refetchMs?: number | false
}

export type ApiQuery<Result> = UseQueryResult<Result, Error>

export function useApiQuery<Query, Result>(
  route: Route<Query, Result>,
  query: Query,
  options: ApiQueryOptions<Result> = {},
): ApiQuery<Result> {
  const { params = {}, enabled = true, refetchMs = false, first, firstAt } = options
  // Part of the key because the service translates some texts.
  const language = useLanguage()
  return useQuery<Result>({
    queryKey: [route.path, params, query, language, viewedAccount() ?? ''],
    queryFn: ({ signal }) => callApi(route, query, { params, signal }),
    enabled,
    refetchInterval: refetchMs,
    placeholderData: keepPreviousData,
    ...(first === undefined
      ? {}
      : { initialData: first as Result & (() => undefined), initialDataUpdatedAt: firstAt }),
  })
}

export interface MutationInput<Body> {
  readonly body: Body
  readonly params?: PathParams
}

export type ApiMutation<Body, Result> = UseMutationResult<Result, Error, MutationInput<Body>>

/**
 * A call that changes data; on success all queries are refetched. With `idempotent`, a retry with the same body after a
 * connection failure or the error page of a proxy sends the same idempotency key.
 */
export function useApiMutation<Body, Result>(
  route: Route<Body, Result>,
  options: { readonly idempotent?: boolean } = {},
): ApiMutation<Body, Result> {
  const client = useQueryClient()
  const attempt = useRef<{ content: string; key: string }>(undefined)
  return useMutation<Result, Error, MutationInput<Body>>({
    mutationFn: async ({ body, params = {} }) => {
      if (options.idempotent !== true) return callApi(route, body, { params })
      const content = JSON.stringify([body, params])
      if (attempt.current?.content !== content) attempt.current = { content, key: createIdempotencyKey() }
      const { key } = attempt.current
      try {
        const result = await callApi(route, body, { params, idempotencyKey: key })
        attempt.current = undefined
        return result
      } catch (error) {
        // A call without a response of the service may have succeeded; any other failure is known, so the next call gets a
        // new key.
        if (!isUncertain(error)) attempt.current = undefined
        throw error
      }
    },
    onSuccess: () => client.invalidateQueries(),
  })
}

// crypto.randomUUID() exists only in secure contexts; the console also runs over plain HTTP.
export function createIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

const startKey = ['start']

/** Uses the first response of the service without asking again. */
export function storeStart(client: QueryClient, start: Start): void {
  client.setQueryData<Start>(startKey, keepSession(start))
}

function keepSession(start: Start): Start {
  if (start.me) setCsrfToken(start.me)
  rememberSignedIn(start.me !== null)
  return start
}

export function useStart(): ApiQuery<Start> {
  return useQuery<Start>({
    queryKey: startKey,
    queryFn: async ({ signal }) =>
      keepSession((await takeFirstStart()) ?? (await callApi(sessionRoutes.start, {}, { signal }))),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
}

/** What the account that is shown pays; the default prices until they are loaded. */
export function usePrices(): Prices {
  return useMe().data?.prices ?? prices
}

/** The signed-in user and the account whose data is shown. For use inside the frame only. */
export function useMe(): ApiQuery<Me> {
  const start = useStart()
  // The first response has it already, except while another account is viewed.
  const first = viewedAccount() === undefined ? start.data?.me : undefined
  return useApiQuery(
    sessionRoutes.me,
    {},
    { refetchMs: 60_000, ...(first ? { first, firstAt: start.dataUpdatedAt } : {}) },
  )
}

/** Stores the session after signing in or up, without another request. */
export function useSetSession(): (me: Me) => void {
  const client = useQueryClient()
  return (me) => {
    setCsrfToken(me)
    rememberSignedIn(true)
    dropFirstReads()
    client.setQueryData<Start>(startKey, (start) => (start ? { ...start, me } : start))
  }
}
