// The state of webhooks over all accounts.
import { hourMs } from '../../contract/time.ts'
import type { Queries } from '../db/database.ts'
import type { EndpointRow } from './store.ts'

/** Only this many of the newest attempts are counted, because the overview is read every few seconds. */
const maxAttempts = 5_000
const maxTroubled = 100

export interface AttemptCounts {
  readonly attempts: number
  readonly failed: number
}

/** Ids increase with time, so the newest attempts are found without an index on the time. */
export async function countRecentAttempts(queries: Queries): Promise<AttemptCounts> {
  const row = await queries.one<AttemptCounts>(
    `SELECT COUNT(*) AS attempts, COUNT(error) AS failed
     FROM (SELECT at, error FROM event_attempt ORDER BY id DESC LIMIT ${maxAttempts}) AS newest
     WHERE at >= ${queries.now} - ${hourMs}`,
  )
  return row ?? { attempts: 0, failed: 0 }
}

const isDisabled = `p.state = 'disabled' AND p.disabled_reason IN ('gone', 'failing')`
const isFailing = `p.state = 'active' AND p.failing_since IS NOT NULL`

export interface TroubleCounts {
  readonly disabled: number
  readonly failing: number
}

export async function countTroubled(queries: Queries): Promise<TroubleCounts> {
  const row = await queries.one<{ disabled: number | null; failing: number | null }>(
    `SELECT SUM(CASE WHEN ${isDisabled} THEN 1 ELSE 0 END) AS disabled,
       SUM(CASE WHEN ${isFailing} THEN 1 ELSE 0 END) AS failing
     FROM event_endpoint p WHERE p.kind = 'webhook'`,
  )
  return { disabled: Number(row?.disabled ?? 0), failing: Number(row?.failing ?? 0) }
}

export type TroubledRow = EndpointRow & { readonly username: string }

/** Those that fail for the longest time first. */
export function listTroubled(queries: Queries): Promise<TroubledRow[]> {
  return queries.all<TroubledRow>(
    `SELECT p.*, a.username FROM event_endpoint p JOIN account a ON a.id = p.account_id
     WHERE p.kind = 'webhook' AND (${isDisabled} OR ${isFailing})
     ORDER BY COALESCE(p.failing_since, 0), p.id LIMIT ${maxTroubled}`,
  )
}
