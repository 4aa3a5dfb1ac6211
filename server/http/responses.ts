// The response shapes of the four endpoints, and how an AppError is written in each of them.
import type { Shape } from '../../contract/endpoint.ts'
import type { Language } from '../../contract/text.ts'
import type { AppError } from './errors.ts'

export interface ApiResponse {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export function envelope(data: unknown): ApiResponse {
  return { status: 200, body: { code: 0, message: 'success', data } }
}

/** A page of a list; the cursor is null on the last page. */
export function pageEnvelope(data: readonly unknown[], nextCursor: string | null): ApiResponse {
  return { status: 200, body: { code: 0, message: 'success', data, next_cursor: nextCursor } }
}

export function shortlinkSuccess(data: unknown): ApiResponse {
  return { status: 200, body: { success: true, data } }
}

export interface ErrorResponseOptions {
  /** `ok`: HTTP 200 for all errors except 429; never for short links. */
  readonly errorStatus: 'mapped' | 'ok'
}

export function errorResponse(
  shape: Shape,
  error: AppError,
  language: Language,
  options: ErrorResponseOptions,
): ApiResponse {
  const message = error.text[language]
  const headers: Record<string, string> = { ...error.headers }
  if (error.retryAfter !== undefined) headers['retry-after'] = String(error.retryAfter)
  if (shape === 'shortlink') {
    // This endpoint documents a missing key as missing parameters: 400.
    const status = error.code === 1001 ? 400 : error.status
    if (status === 401) headers['www-authenticate'] = challenge
    return { status, body: { success: false, message }, headers }
  }
  if (error.status === 401) headers['www-authenticate'] = challenge
  const status = options.errorStatus === 'ok' && error.status !== 429 ? 200 : error.status
  return { status, body: { code: error.code, message }, headers }
}

const challenge = 'ApiKey realm="tollgate"'
