// Replies of recipients: matched with the last message to the number, stored once, and some of them unsubscribe the number.
import { sms } from '../../contract/sms.ts'
import { bizIdOf, isPhoneNumber, isStopWord, maxReplyLength } from '../../contract/sms-text.ts'
import { defaultPageSize } from '../../contract/paging.ts'
import { formatTime, isoTime } from '../../contract/time.ts'
import { type Caller, requireNotSuspended } from '../accounts/authenticate.ts'
import type { Database } from '../db/database.ts'
import { emitEvents } from '../events/emit.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { type Cursors, limitProblem } from '../http/cursor.ts'
import { parameterError } from '../http/parameters.ts'
import { type ApiResponse, pageEnvelope } from '../http/responses.ts'
import type { IncomingReply } from './port.ts'
import { readDays } from './records.ts'
import { findReplies, findRepliedSend, insertReply, type ReplyRow } from './reply-store.ts'
import { findProblems } from './send-parameters.ts'
import { insertStop } from './stop-store.ts'

/** Stores a reply, its effect and its event in one transaction. False when it was stored before. */
export function storeReply(db: Database, gateway: string, reply: IncomingReply): Promise<boolean> {
  const phone = reply.phone.replace(/^(?:\+|00)?86(?=1\d{10}$)/, '')
  const content = reply.content.toWellFormed().replaceAll('\0', '').slice(0, maxReplyLength).toWellFormed()
  const { signName } = reply
  return db.write(async (tx) => {
    const send = isPhoneNumber(phone) ? await findRepliedSend(tx, { phone, signName, gateway }) : undefined
    const isStop = send !== undefined && isStopWord(content)
    const stored = await insertReply(tx, {
      account_id: send?.account_id ?? null,
      send_id: send?.id ?? null,
      phone,
      content,
      sign_name: send?.sign_name ?? signName ?? '',
      gateway,
      sequence: reply.sequence,
      stopped: isStop ? 1 : 0,
    })
    if (!stored) return false
    if (!send) return true
    if (isStop)
      await insertStop(tx, {
        account_id: send.account_id,
        phone,
        sign_name: send.sign_name,
        source: 'reply',
        reply_id: stored.id,
      })
    const data = {
      phone_number: phone,
      content,
      sign_name: send.sign_name,
      biz_id: bizIdOf(send.id),
      received_at: isoTime(stored.received_at),
      stopped: isStop,
    }
    await emitEvents(tx, [{ accountId: send.account_id, type: 'sms.reply', data }])
    return true
  })
}

function describeReply(reply: ReplyRow) {
  return {
    phone_number: reply.phone,
    content: reply.content,
    sign_name: reply.sign_name,
    biz_id: reply.send_id === null ? '' : bizIdOf(reply.send_id),
    received_at: formatTime(reply.received_at),
  }
}

export async function showReplies(
  db: Database,
  cursors: Cursors,
  call: Call,
  { account }: Caller,
): Promise<ApiResponse> {
  const { values, missing, invalid } = readCallParameters(call, sms.operations.replies.parameters)
  const { phone_number: phone, cursor, limit = defaultPageSize } = values
  const days = readDays(values)
  const problems = [...invalid, ...findProblems({ phone_number: phone }), ...days.problems]
  const wrongLimit = limitProblem(limit)
  if (wrongLimit) problems.push(wrongLimit)
  if (missing.length > 0 || problems.length > 0) throw parameterError(missing, problems)
  requireNotSuspended(account)

  const { from, before } = days
  const query = [account.id, 'get_replies', phone, from, before]
  const position = cursors.read(query, cursor)
  const after = position && { received_at: position[0]!, id: position[1]! }
  const rows = await findReplies(db, { accountId: account.id, phone, from, before, after }, limit + 1)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return pageEnvelope(
    rows.slice(0, limit).map(describeReply),
    last ? cursors.write(query, [last.received_at, last.id]) : null,
  )
}
