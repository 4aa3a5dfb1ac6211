// Submits signatures and templates to vendors and queries their state. A submission is sent once: when it is not known whether the
// vendor accepted it, an operator checks and submits again. Nothing here changes what may be sent.
import { hourMs, minuteMs } from '../../../contract/time.ts'
import type { Config } from '../../config.ts'
import type { Services } from '../../services.ts'
import { type Actor, recordChange } from '../../audit/audit.ts'
import { findById } from '../../accounts/store.ts'
import { AppError } from '../../http/errors.ts'
import { createProofs } from '../proofs.ts'
import { findProofs } from '../proof-store.ts'
import { findSignatureById } from '../signature-store.ts'
import { findTemplates, lockTemplate, updateTemplate } from '../template-store.ts'
import { createAliyunReviews } from './aliyun.ts'
import type { Submitted, VendorReviews } from './port.ts'
import {
  claimDue,
  findRevision,
  insertSubmission,
  type ReviewedKind,
  updateVendorReview,
  type VendorReviewRow,
} from './store.ts'
import { createTencentReviews } from './tencent.ts'

/** The vendors in SMS_GATEWAYS that review signatures and templates. */
function createVendorReviews(config: Config): ReadonlyMap<string, VendorReviews> {
  const timeoutMs = config.GATEWAY_TIMEOUT_MS
  const vendors: VendorReviews[] = []
  if (config.SMS_GATEWAYS.includes('aliyun'))
    vendors.push(
      createAliyunReviews({
        key: { id: config.ALIYUN_ACCESS_KEY_ID ?? '', secret: config.ALIYUN_ACCESS_KEY_SECRET ?? '' },
        endpoint: config.ALIYUN_SMS_ENDPOINT ?? '',
        timeoutMs,
        qualificationId: config.ALIYUN_SMS_QUALIFICATION_ID,
      }),
    )
  if (config.SMS_GATEWAYS.includes('tencent'))
    vendors.push(
      createTencentReviews({
        key: { id: config.TENCENT_SECRET_ID ?? '', secret: config.TENCENT_SECRET_KEY ?? '' },
        endpoint: config.TENCENT_SMS_ENDPOINT ?? '',
        region: config.TENCENT_REGION,
        appId: config.TENCENT_SMS_APP_ID ?? '',
        timeoutMs,
        qualificationId: config.TENCENT_SMS_QUALIFICATION_ID,
      }),
    )
  return new Map(vendors.map((vendor) => [vendor.name, vendor]))
}

const perRound = 10
const leaseMs = 120_000
const maxAttempts = 8
/** Reviews take hours; after the last wait it repeats. */
const queryAfterMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs, hourMs]
/** About a month. */
const maxQueries = 720

export interface VendorReviewJob {
  readonly vendors: ReadonlyMap<string, VendorReviews>
  submit(actor: Actor, kind: ReviewedKind, id: number, gateways: readonly string[]): Promise<void>
  /** Submits and queries what is due. */
  run(signal?: AbortSignal): Promise<void>
}

export function createVendorReviewJob(
  services: Pick<Services, 'db' | 'config' | 'secretKey' | 'log'>,
): VendorReviewJob {
  const { db, config, log } = services
  const vendors = createVendorReviews(config)
  const proofs = createProofs(db, services.secretKey)

  async function submit(
    actor: Actor,
    kind: ReviewedKind,
    id: number,
    gateways: readonly string[],
  ): Promise<void> {
    const unknown = gateways.filter((name) => !vendors.has(name))
    if (gateways.length === 0 || unknown.length > 0)
      throw new AppError(1002, {
        zh: `可提交的网关：${[...vendors.keys()].join('、') || '无（SMS_GATEWAYS 没有阿里云或腾讯云）'}`,
        en: `gateways that take submissions: ${[...vendors.keys()].join(', ') || 'none in SMS_GATEWAYS'}`,
      })
    await db.write(async (tx) => {
      const subject = kind === 'template' ? await lockTemplate(tx, id) : await findSignatureById(tx, id)
      if (!subject) throw new AppError(1002, { zh: '不存在', en: 'it does not exist' })
      if (subject.status !== '审核通过')
        throw new AppError(1002, {
          zh: '平台审核通过后才能提交服务商',
          en: 'it is submitted to a vendor after our own approval',
        })
      const started: string[] = []
      for (const gateway of gateways) {
        const row = { kind, subject_id: id, revision: subject.revision, gateway }
        if (await insertSubmission(tx, row)) started.push(gateway)
      }
      if (started.length === 0)
        throw new AppError(1002, {
          zh: '服务商正在审核，请等待结果',
          en: 'the vendor is reviewing it, wait for the result',
        })
      const name = 'code' in subject ? subject.code : subject.sign_name
      const target = subject.account_id === null ? name : { accountId: subject.account_id }
      await recordChange(tx, actor, `${kind}.submit`, target, { id, name, gateways: started.join(',') })
    })
  }

  async function run(signal?: AbortSignal): Promise<void> {
    // One at a time: whatever is claimed when the process dies is the only one whose call may have begun.
    for (let count = 0; count < perRound && signal?.aborted !== true; count += 1) {
      const row = await db.write((tx) => claimDue(tx, leaseMs))
      if (!row) return
      const vendor = vendors.get(row.gateway)
      if (!vendor) await end(row, { state: 'failed', reason: 'no_gateway' }, undefined)
      else if (row.state === 'reviewing') await query(row, vendor, signal)
      // The lease of a process that died within its call: the vendor may have it.
      else if (row.lease_until > 0) await end(row, { state: 'failed', reason: unknownResult }, undefined)
      else await send(row, vendor)
    }
  }

  /** A stop of the service waits for it, like for a message: an aborted call would have an unknown result. */
  async function send(row: VendorReviewRow, vendor: VendorReviews): Promise<void> {
    const submitted = await submitTo(vendor, row)
    const attempts = row.attempts + 1
    switch (submitted?.kind) {
      case undefined:
        return end(row, { state: 'failed', reason: 'deleted' }, undefined)
      case 'submitted':
        return end(
          row,
          { state: 'reviewing', reason: '', vendor_id: submitted.vendorId, attempts: 0 },
          minuteMs,
        )
      case 'refused':
        return end(row, { state: 'failed', reason: submitted.reason }, undefined)
      case 'unknown':
        log.warn(
          { gateway: row.gateway, reason: submitted.reason },
          'submission to a vendor is not confirmed',
        )
        return end(row, { state: 'failed', reason: unknownResult }, undefined)
      case 'later':
        return attempts >= maxAttempts
          ? end(row, { state: 'failed', reason: submitted.reason, attempts }, undefined)
          : end(row, { state: 'waiting', reason: submitted.reason, attempts }, minuteMs * 2 ** (attempts - 1))
    }
  }

  async function submitTo(vendor: VendorReviews, row: VendorReviewRow): Promise<Submitted | undefined> {
    let call: (() => Promise<Submitted>) | undefined
    try {
      call = row.kind === 'signature' ? await readSignature(vendor, row) : await readTemplate(vendor, row)
    } catch (error) {
      log.error({ err: error, gateway: row.gateway, review: row.id }, 'failed to prepare a submission')
      return { kind: 'later', reason: 'not_prepared' }
    }
    return call?.()
  }

  async function readSignature(vendor: VendorReviews, row: VendorReviewRow) {
    const signature = await findSignatureById(db, row.subject_id)
    if (!signature) return undefined
    const files = (await findProofs(db, [signature.id])).filter(({ media_type: type }) =>
      type.startsWith('image/'),
    )
    const images: string[] = []
    for (const { id } of files) images.push((await proofs.read(undefined, id)).content.toString('base64'))
    const { sign_name: signName, type, note } = signature
    return () => vendor.submitSignature({ signName, type, note, images })
  }

  async function readTemplate(vendor: VendorReviews, row: VendorReviewRow) {
    const [template] = await findTemplates(db, { id: row.subject_id })
    // A text that was changed since it was submitted is not the one that we have approved.
    if (template?.revision !== row.revision) return undefined
    const account = template.account_id === null ? undefined : await findById(db, template.account_id)
    const { name, type, content } = template
    const variables = JSON.parse(template.variables) as string[]
    const signName = account?.sign_name ?? config.SMS_SIGN_NAME
    return () => vendor.submitTemplate({ name, type, content, variables, signName })
  }

  async function query(row: VendorReviewRow, vendor: VendorReviews, signal?: AbortSignal): Promise<void> {
    const found =
      row.kind === 'signature'
        ? await vendor.querySignature(row.vendor_id, signal)
        : await vendor.queryTemplate(row.vendor_id, signal)
    const attempts = row.attempts + 1
    if (found && found.state !== 'reviewing') return end(row, found, undefined)
    if (attempts >= maxQueries) return end(row, { state: 'failed', reason: unknownResult }, undefined)
    const wait = queryAfterMs[Math.min(attempts, queryAfterMs.length - 1)]!
    return end(row, { state: 'reviewing', reason: found?.reason ?? '', attempts }, wait)
  }

  /** An approved template is sent with the vendor's id from now on, unless it was changed since it was submitted. */
  async function end(
    row: VendorReviewRow,
    change: Partial<VendorReviewRow> & Pick<VendorReviewRow, 'state'>,
    waitMs: number | undefined,
  ): Promise<void> {
    await db.write(async (tx) => {
      if (change.state === 'approved' && row.kind === 'template') {
        const template = await lockTemplate(tx, row.subject_id)
        // A new name since the query began has given both another revision; another text has removed the review.
        if (template !== undefined && template.revision === (await findRevision(tx, row.id))) {
          const codes = { ...(JSON.parse(template.gateway_codes) as object), [row.gateway]: row.vendor_id }
          await updateTemplate(tx, { ...template, gateway_codes: JSON.stringify(codes) })
        }
      }
      await updateVendorReview(tx, { ...row, ...change }, waitMs)
    })
  }

  return { vendors, submit, run }
}

/** Stored as it is; the console translates it. */
const unknownResult = 'unknown_result'
