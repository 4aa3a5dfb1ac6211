// Limits of console input that the service enforces and the forms show. Plain numbers, so that forms import no schema library.

/** The reason that an operator gives for a change. */
export const maxNoteLength = 200

/** The reason for rejecting a template or a signature. */
export const maxReasonLength = 200

export const minUsernameLength = 2
export const maxUsernameLength = 64
export const minPasswordLength = 8
export const maxPasswordLength = 200

/** Codes in one batch. */
export const maxRedeemBatchSize = 10_000

/** Calls per second and burst of one account. */
export const maxAccountRate = 1_000_000
