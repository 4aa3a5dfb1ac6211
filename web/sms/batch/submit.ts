// Checks and submits the recipients of a file in slices. A slice that was submitted is never submitted again.
import { type BatchDraft, smsBatchRoutes } from '../../../contract/console/sms-batches.ts'
import { callApi } from '../../api/client.ts'
import { createIdempotencyKey } from '../../api/hooks.ts'
import { type Recipient, sliceRecipients } from './recipients.ts'

export type GroupFrame = Pick<BatchDraft, 'template_code' | 'sign_name' | 'send_at'>

export interface RejectedRecipient {
  readonly recipient: Recipient
  readonly reason: string
}

export interface CheckedGroup {
  readonly valid: readonly Recipient[]
  readonly rejected: readonly RejectedRecipient[]
  readonly cost: number
  readonly remaining: number
}

export async function checkGroup(
  frame: GroupFrame,
  recipients: readonly Recipient[],
  options: { readonly signal: AbortSignal; readonly onProgress: (done: number, total: number) => void },
): Promise<CheckedGroup> {
  const slices = sliceRecipients(recipients)
  const valid: Recipient[] = []
  const rejected: RejectedRecipient[] = []
  let cost = 0
  let remaining = 0
  for (const [index, slice] of slices.entries()) {
    options.onProgress(index, slices.length)
    const checked = await callApi(smsBatchRoutes.checkBatch, draftOf(frame, slice), {
      signal: options.signal,
    })
    const reasons = new Map(checked.rejected.map((one) => [one.index, one.error_message]))
    for (const [at, recipient] of slice.entries()) {
      const reason = reasons.get(at)
      if (reason === undefined) valid.push(recipient)
      else rejected.push({ recipient, reason })
    }
    cost += checked.cost
    ;({ remaining } = checked)
  }
  return { valid, rejected, cost, remaining }
}

/** One call: its key is the same when the call is repeated, so that nothing is sent or charged twice. */
export interface Submission {
  readonly key: string
  readonly recipients: readonly Recipient[]
}

export function planSubmissions(recipients: readonly Recipient[]): readonly Submission[] {
  return sliceRecipients(recipients).map((slice) => ({ key: createIdempotencyKey(), recipients: slice }))
}

export async function submit(
  frame: GroupFrame,
  { key, recipients }: Submission,
): Promise<{ readonly accepted: number; readonly rejected: readonly RejectedRecipient[] }> {
  const sent = await callApi(smsBatchRoutes.sendBatch, draftOf(frame, recipients), { idempotencyKey: key })
  return {
    accepted: sent.accepted,
    rejected: sent.rejected.map((one) => ({
      recipient: recipients[one.index]!,
      reason: one.error_message,
    })),
  }
}

function draftOf(frame: GroupFrame, recipients: readonly Recipient[]): BatchDraft {
  return {
    ...frame,
    messages: recipients.map(({ phone, params }) => ({ phone_number: phone, template_params: params })),
  }
}
