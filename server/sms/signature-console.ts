// Console routes for the signatures of an account, their proofs, replies and the stop list.
import { Readable } from 'node:stream'
import { maskPhone } from '../../contract/masking.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import type { AccountSignature, Proof, Reply, Stop } from '../../contract/console/responses/sms.ts'
import { bizIdOf } from '../../contract/sms-text.ts'
import type { Language } from '../../contract/text.ts'
import { findById } from '../accounts/store.ts'
import { requireNotExpired } from '../console/call-from-console.ts'
import { filterRange, readSlice } from '../console/fields.ts'
import { notFound } from '../console/problem.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import { createProofs } from './proofs.ts'
import { findProofs, type ListedProof } from './proof-store.ts'
import { vendorReviewOf } from './reviews/console.ts'
import { findVendorReviews } from './reviews/store.ts'
import { findReplies, findReplyPosition, type ReplyRow } from './reply-store.ts'
import {
  type SignatureDetails as SignatureWithDefault,
  addSignature,
  changeDefaultSignature,
  deleteSignature,
  listSignatures,
} from './signatures.ts'
import { addStop, removeStop } from './stop-list.ts'
import { findStop, findStops, type StopRow } from './stop-store.ts'

export function signaturePages(api: Api, { db, config, secretKey }: Services): void {
  const proofs = createProofs(db, secretKey)

  async function shownOf(accountId: number, language: Language) {
    const rows = await listSignatures(db, accountId)
    const ids = rows.map(({ id }) => id)
    const files = await findProofs(db, ids)
    const atVendors = await findVendorReviews(db, 'signature', ids)
    return {
      items: rows.map((row) => ({
        ...signatureOf(row, files),
        vendors: atVendors
          .filter(({ subject_id: id }) => id === row.id)
          .map((one) => vendorReviewOf(one, language)),
      })),
      platform_sign_name: config.SMS_SIGN_NAME,
    }
  }

  api.account(smsRoutes.signature, async (request) => ({
    sign_name: (await findById(db, request.account.id))?.sign_name ?? null,
    platform_sign_name: config.SMS_SIGN_NAME,
  }))

  api.account(smsRoutes.signatures, (request) => shownOf(request.account.id, request.language))

  api.account(smsRoutes.addSignature, async (request, input) => {
    requireNotExpired(request.account)
    const accountId = request.account.id
    const { sign_name: signName, ...more } = input
    const row = await addSignature(db, { kind: 'account', accountId }, accountId, { signName, ...more })
    return { ...signatureOf({ ...row, isDefault: false }, []), vendors: [] }
  })

  api.account(smsRoutes.deleteSignature, async (request) => {
    requireNotExpired(request.account)
    const accountId = request.account.id
    await deleteSignature(db, { kind: 'account', accountId }, accountId, request.id())
    return {}
  })

  api.account(smsRoutes.changeDefaultSignature, async (request, input) => {
    requireNotExpired(request.account)
    await changeDefaultSignature(db, request.account.id, input.id ?? undefined)
    return shownOf(request.account.id, request.language)
  })

  api.account(smsRoutes.addProof, async (request, input) => {
    requireNotExpired(request.account)
    return proofOf(await proofs.add(request.account.id, request.id(), input))
  })

  api.account(smsRoutes.removeProof, async (request) => {
    requireNotExpired(request.account)
    await proofs.remove(request.account.id, request.id(), request.id('proof'))
    return {}
  })

  api.accountFile(smsRoutes.proofFile, async (request) => {
    const { name, content } = await proofs.read(request.account.id, request.id())
    return { name, content: Readable.from([content]), type: 'application/octet-stream' }
  })

  api.account(smsRoutes.replies, async (request, input) => {
    const { start, end } = filterRange(input)
    const after = input.before === undefined ? undefined : await findReplyPosition(db, input.before)
    const filter = {
      accountId: request.account.id,
      phone: input.phone_number?.trim() || undefined,
      from: start,
      before: end,
      after,
    }
    return readSlice(input, (limit) => findReplies(db.reports, filter, limit), replyOf)
  })

  api.account(smsRoutes.stops, (request, input) =>
    readSlice(
      input,
      (limit) =>
        findStops(db.reports, request.account.id, {
          phone: input.phone_number?.trim() || undefined,
          before: input.before,
          limit,
        }),
      stopOf,
    ),
  )

  api.account(smsRoutes.addStop, async (request, input) => {
    requireNotExpired(request.account)
    const actor = { kind: 'account', accountId: request.account.id } as const
    await addStop(db, actor, request.account, { phone: input.phone_number, signName: input.sign_name })
    return {}
  })

  api.account(smsRoutes.removeStop, async (request) => {
    requireNotExpired(request.account)
    const stop = await findStop(db, request.account.id, request.id())
    if (!stop) throw notFound()
    const actor = { kind: 'account', accountId: request.account.id } as const
    await removeStop(db, actor, request.account, { phone: stop.phone, signName: stop.sign_name })
    return {}
  })
}

function signatureOf(
  row: SignatureWithDefault,
  files: readonly ListedProof[],
): Omit<AccountSignature, 'vendors'> {
  return {
    id: row.id,
    sign_name: row.sign_name,
    type: row.type,
    state: row.status,
    reason: row.reason === '' ? null : row.reason,
    note: row.note,
    is_default: row.isDefault,
    proofs: files.filter(({ signature_id: id }) => id === row.id).map(proofOf),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

export function proofOf({ id, name, media_type: type, size, created_at: at }: ListedProof): Proof {
  return { id, name, media_type: type, size, created_at: at }
}

export function replyOf(row: ReplyRow): Reply {
  return {
    id: row.id,
    phone_number: maskPhone(row.phone),
    content: row.content,
    sign_name: row.sign_name,
    biz_id: row.send_id === null ? '' : bizIdOf(row.send_id),
    gateway: row.gateway,
    stopped: row.stopped === 1,
    received_at: row.received_at,
  }
}

function stopOf(row: StopRow): Stop {
  return {
    id: row.id,
    phone_number: maskPhone(row.phone),
    sign_name: row.sign_name,
    source: row.source,
    created_at: row.created_at,
  }
}
