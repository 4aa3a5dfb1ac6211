// Cursors of lists: opaque, signed, and valid only for the account and the query they were made for.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { maxPageSize } from '../../contract/paging.ts'
import { invalidField } from './errors.ts'
import type { InvalidParameter } from './parameters.ts'
import { notBetween } from './value-problems.ts'

/** Account, action and filters: everything that must be the same on the next page. */
export type CursorQuery = readonly (string | number | null | undefined)[]

export interface Cursors {
  write(query: CursorQuery, position: readonly number[]): string
  /** Undefined for the first page. Throws when the cursor belongs to something else. */
  read(query: CursorQuery, cursor: string | undefined): readonly number[] | undefined
}

const signatureLength = 12

export function createCursors(secret: string): Cursors {
  function sign(query: CursorQuery, position: string): Buffer {
    const text = JSON.stringify([query.map((part) => part ?? null), position])
    return createHmac('sha256', secret).update(text).digest().subarray(0, signatureLength)
  }

  return {
    write(query, position) {
      const text = position.join(',')
      return Buffer.concat([sign(query, text), Buffer.from(text)]).toString('base64url')
    },
    read(query, cursor) {
      if (cursor === undefined) return undefined
      const bytes = Buffer.from(cursor, 'base64url')
      const text = bytes.subarray(signatureLength).toString('latin1')
      const isOurs =
        bytes.length > signatureLength &&
        cursor.length < 200 &&
        // The decoder skips characters that base64url does not have.
        cursor === bytes.toString('base64url') &&
        timingSafeEqual(bytes.subarray(0, signatureLength), sign(query, text))
      if (!isOurs) {
        const problem = { zh: 'cursor 无效', en: 'cursor is not valid' }
        throw invalidField('cursor', problem)
      }
      return text.split(',').map(Number)
    },
  }
}

/** The problem of a `limit` that is out of range. */
export function limitProblem(limit: number | undefined): InvalidParameter | undefined {
  if (limit === undefined || (limit >= 1 && limit <= maxPageSize)) return undefined
  return { name: 'limit', text: notBetween(1, maxPageSize) }
}
