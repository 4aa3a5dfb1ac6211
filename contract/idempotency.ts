// The header `Idempotency-Key`: what a key may contain.

/** Visible ASCII characters. */
export const idempotencyKeySchema = { type: 'string', maxLength: 255, pattern: '^[!-~]+$' } as const
