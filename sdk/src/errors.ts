// Everything that can go wrong, as errors with a code, a message and the request's id.

/** The documented codes. Short links have none of their own: there `code` is undefined and `status` says it. */
export const codes = {
  missingParameters: 1001,
  wrongParameters: 1002,
  wrongCredentials: 1003,
  notAllowedOrNoCredits: 1004,
  operationFailed: 1005,
  smsNotEnabled: 1006,
  noSuchTemplate: 1007,
  tooFrequent: 429,
  internal: 5000,
} as const

export type Code = (typeof codes)[keyof typeof codes]

export interface ErrorDetails {
  readonly requestId?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly cause?: unknown
}

export class TollgateError extends Error {
  /** `X-Request-Id` of the answer; undefined when there was none. */
  readonly requestId: string | undefined
  /** The key this call went out under: call again with it, and nothing is paid twice. */
  readonly idempotencyKey: string | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause })
    this.name = 'TollgateError'
    this.requestId = details.requestId
    this.idempotencyKey = details.idempotencyKey
  }
}

/** The service answered with an error. */
export class TollgateApiError extends TollgateError {
  readonly status: number
  readonly code: Code | undefined
  /** Seconds after which it makes sense to come again. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    answer: {
      readonly status: number
      readonly code?: Code | undefined
      readonly retryAfter?: number | undefined
    },
    details: ErrorDetails = {},
  ) {
    super(message, details)
    this.name = 'TollgateApiError'
    this.status = answer.status
    this.code = answer.code
    this.retryAfter = answer.retryAfter
  }
}

/** No answer within the time. Whether the call was carried out is not known. */
export class TollgateTimeoutError extends TollgateError {
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.name = 'TollgateTimeoutError'
  }
}

/** The service could not be reached, the connection broke, or what came back is not its answer. */
export class TollgateConnectionError extends TollgateError {
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.name = 'TollgateConnectionError'
  }
}
