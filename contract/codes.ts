// The documented error codes and their HTTP status.

export const statusOfCode = {
  0: 200,
  1001: 400,
  1002: 400,
  1003: 401,
  1004: 403,
  1005: 502,
  1006: 403,
  1007: 404,
  5000: 500,
  429: 429,
} as const

export type ErrorCode = Exclude<keyof typeof statusOfCode, 0>
