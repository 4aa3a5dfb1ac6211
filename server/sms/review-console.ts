// Console routes for operators: review templates and signatures, read proofs and replies without a message.
import { Readable } from 'node:stream'
import { noteProblem } from '../../contract/console/fields.ts'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import type { Review } from '../../contract/console/responses/operator-products.ts'
import type { VendorReview } from '../../contract/console/responses/sms.ts'
import type { Language } from '../../contract/text.ts'
import type { Services } from '../services.ts'
import { findReviews, type ReviewRow } from './review-store.ts'
import { findProofs, type ListedProof } from './proof-store.ts'
import { createProofs } from './proofs.ts'
import { findReplies, findReplyPosition } from './reply-store.ts'
import { proofOf, replyOf } from './signature-console.ts'
import { reviewSignature } from './signatures.ts'
import { reviewTemplate } from './templates.ts'
import type { SmsProduct } from './api.ts'
import { vendorReviewOf } from './reviews/console.ts'
import { findVendorReviews, type VendorReviewRow } from './reviews/store.ts'
import { pageRows, readSlice, toPage } from '../console/fields.ts'
import type { Api } from '../console/routes.ts'
import { conflict, invalidFields, notFound } from '../console/problem.ts'
import { operatorOf } from '../console/operator-actor.ts'

export function reviewPages(api: Api, { db, secretKey }: Services, { vendorReviews }: SmsProduct): void {
  async function findReview(which: ReviewRow['kind'], id: number): Promise<ReviewRow> {
    const { rows } = await findReviews(db, { kind: which, id, limit: 1, offset: 0 })
    const [row] = rows
    if (!row) throw notFound()
    return row
  }

  async function reviewsOf(rows: readonly ReviewRow[], language: Language): Promise<Review[]> {
    const idsOf = (which: ReviewRow['kind']) => rows.filter(({ kind }) => kind === which).map(({ id }) => id)
    const files = await findProofs(db, idsOf('signature'))
    const atVendors = [
      ...(await findVendorReviews(db, 'signature', idsOf('signature'))),
      ...(await findVendorReviews(db, 'template', idsOf('template'))),
    ]
    return rows.map((row) => ({
      ...reviewOf(row, files),
      vendors: vendorsOf(
        atVendors.filter((one) => one.kind === row.kind && one.subject_id === row.id),
        language,
      ),
    }))
  }

  function vendorsOf(rows: readonly VendorReviewRow[], language: Language): VendorReview[] {
    const open = [...vendorReviews.vendors.keys()].filter((name) =>
      rows.every(({ gateway }) => gateway !== name),
    )
    return [
      ...rows.map((row) => vendorReviewOf(row, language)),
      ...open.map((gateway) => ({ gateway, state: 'none' as const, reason: null, updated_at: null })),
    ]
  }

  const proofs = createProofs(db, secretKey)

  api.operatorFile(operatorProductRoutes.proofFile, async (request) => {
    const { name, content } = await proofs.read(undefined, request.id())
    return { name, content: Readable.from([content]), type: 'application/octet-stream' }
  })

  api.operator(operatorProductRoutes.unmatchedReplies, async (_request, input) => {
    const after = input.before === undefined ? undefined : await findReplyPosition(db, input.before)
    return readSlice(input, (limit) => findReplies(db.reports, { accountId: null, after }, limit), replyOf)
  })

  api.operator(operatorProductRoutes.reviews, async (request, input) => {
    const page = pageRows(input)
    const { rows, total } = await findReviews(db, {
      kind: input.kind,
      status: input.state ?? '审核中',
      ...page,
    })
    return toPage(page, await reviewsOf(rows, request.language), total)
  })

  api.operator(operatorProductRoutes.decideReview, async (request, input) => {
    const which = request.part('kind')
    if (which !== 'template' && which !== 'signature') throw notFound()
    const before = await findReview(which, request.id())
    const status = input.verdict === 'approve' ? '审核通过' : '审核不通过'
    const reason = input.reason?.trim() ?? ''
    if (input.verdict === 'refuse' && (reason === '' || input.note === undefined)) {
      throw invalidFields({
        ...(reason === '' && {
          reason: { zh: '请填写不通过的原因，账户可以看到', en: 'Enter a reason; the account will see it' },
        }),
        ...(input.note === undefined && { note: noteProblem }),
      })
    }
    if (before.status === status) {
      throw conflict('其他管理员已作出相同的审核决定', 'Another operator has made the same decision')
    }
    if (input.revision !== undefined && input.revision !== before.revision) {
      throw conflict('内容已被修改，请重新查看', 'The text was changed meanwhile, read it again')
    }
    const actor = operatorOf(request, { note: input.note ?? '' })
    // The revision that was read above, in case the text or the proofs change before the decision is written.
    const review = { status, reason, revision: before.revision } as const
    if (which === 'template') {
      await reviewTemplate(db, actor, before.id, review)
    } else {
      await reviewSignature(db, actor, before.id, review)
    }
    const [decided] = await reviewsOf([await findReview(which, before.id)], request.language)
    return decided!
  })

  api.operator(operatorProductRoutes.submitReview, async (request, input) => {
    const which = request.part('kind')
    if (which !== 'template' && which !== 'signature') throw notFound()
    const { id } = await findReview(which, request.id())
    const gateways = input.gateways ?? [...vendorReviews.vendors.keys()]
    await vendorReviews.submit(operatorOf(request, { note: input.note ?? '' }), which, id, gateways)
    const [submitted] = await reviewsOf([await findReview(which, id)], request.language)
    return submitted!
  })
}

function reviewOf(row: ReviewRow, files: readonly ListedProof[]): Omit<Review, 'vendors'> {
  return {
    kind: row.kind,
    id: row.id,
    username: row.username ?? '',
    code: row.code,
    name: row.name,
    content: row.content,
    type: row.type,
    note: row.note,
    proofs: files.filter(({ signature_id: id }) => row.kind === 'signature' && id === row.id).map(proofOf),
    state: row.status,
    reason: row.reason === '' ? null : row.reason,
    revision: row.revision,
    at: row.at,
  }
}
