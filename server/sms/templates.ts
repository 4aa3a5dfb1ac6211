// Templates: created, edited, reviewed, deleted and listed by account holders and the operator.
import { randomUUID } from 'node:crypto'
import { type Actor, recordChange } from '../audit/audit.ts'
import type { AuditDetails } from '../audit/store.ts'
import { maxReasonLength } from '../../contract/console/limits.ts'
import {
  isTemplateCode,
  maxSmsLength,
  maxTemplateCodeLength,
  maxTemplateNameLength,
  parseTemplate,
  type TemplateState,
  type TemplateType,
} from '../../contract/sms-text.ts'
import { hasHiddenCharacters } from '../../contract/values.ts'
import type { Database, Tx } from '../db/database.ts'
import { emitEvents } from '../events/emit.ts'
import { AppError, invalidField } from '../http/errors.ts'
import { memoizePerTick } from '../http/memoize-per-tick.ts'
import { smsGatewayNames } from './gateways.ts'
import { findVendorReviews, keepVendorReviews, removeVendorReviews } from './reviews/store.ts'
import {
  createTemplateRowLookup,
  findTemplatePage,
  findTemplates,
  insertTemplate,
  isCodeTaken,
  lockTemplate,
  removeTemplate,
  type TemplateFilter,
  type TemplateRow,
  updateTemplate,
  updateTemplateCode,
  type UsableTemplateRow,
} from './template-store.ts'

export interface SmsTemplate {
  readonly id: number
  readonly accountId: number | null
  readonly code: string
  readonly name: string
  readonly type: TemplateType
  readonly content: string
  readonly variables: readonly string[]
  readonly status: TemplateState
  readonly reason: string
  readonly gatewayCodes: Readonly<Record<string, string>>
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface TemplateFields {
  /** Derived from the id by default. */
  readonly code?: string | undefined
  readonly name: string
  /** Notification by default. */
  readonly type?: TemplateType | undefined
  readonly content: string
  /** The owner; null shares the template with all accounts. Only for the operator. */
  readonly accountId?: number | null
  /** Only for the operator; an account's new template is in review. */
  readonly status?: TemplateState
  readonly reason?: string
  /** The template's id at each gateway; its code by default. */
  readonly gatewayCodes?: Readonly<Record<string, string>>
}

export async function createTemplate(
  db: Database,
  actor: Actor,
  input: TemplateFields,
): Promise<SmsTemplate> {
  const isOperator = actor.kind !== 'account'
  const accountId = isOperator ? (input.accountId ?? null) : actor.accountId
  const code = input.code === undefined ? undefined : requireCode(input.code)
  const status = (isOperator && input.status) || '审核中'
  const values = {
    account_id: accountId,
    name: requireName(input.name),
    type: input.type ?? 'notification',
    ...requireContent(input.content),
    status,
    reason: isOperator ? requireReason(status, input.reason ?? '') : '',
    gateway_codes: JSON.stringify(isOperator ? requireGatewayCodes(input.gatewayCodes ?? {}) : {}),
  }
  const row = await db.write(async (tx) => {
    // An account's template with the code of a shared one would hide the shared one.
    if (code !== undefined && (await isCodeTaken(tx, accountId, code))) return undefined
    const inserted = await insertTemplate(tx, { ...values, code: code ?? `new-${randomUUID()}` })
    const created = inserted && code === undefined ? await assignCode(tx, inserted) : inserted
    if (created) await recordTemplate(tx, actor, 'create', created, { state: created.status })
    return created
  })
  if (!row) {
    throw invalidField('code', {
      zh: `模板编号 ${code} 已存在`,
      en: `the template code ${code} is taken`,
    })
  }
  return toTemplate(row)
}

/** `SMS_17`, or `SMS_17_1` and so on if that code is taken. */
async function assignCode(tx: Tx, row: TemplateRow): Promise<TemplateRow> {
  for (let tries = 0; ; tries += 1) {
    const code = tries === 0 ? `SMS_${row.id}` : `SMS_${row.id}_${tries}`
    if (await isCodeTaken(tx, row.account_id, code)) continue
    await updateTemplateCode(tx, row.id, code)
    return { ...row, code }
  }
}

export interface TemplateEdit {
  readonly name?: string
  readonly type?: TemplateType | undefined
  readonly content?: string
  /** Only for the operator. */
  readonly gatewayCodes?: Readonly<Record<string, string>>
}

/**
 * A new name, type or content must be reviewed again; new gateway codes need no review. A new type or content needs another
 * review at the vendors too: their templates have the old text.
 */
export function editTemplate(
  db: Database,
  actor: Actor,
  id: number,
  edit: TemplateEdit,
): Promise<SmsTemplate> {
  return db.write(async (tx) => {
    const row = requireVisible(actor, await lockTemplate(tx, id))
    const name = edit.name === undefined ? row.name : requireName(edit.name)
    const text = requireContent(edit.content ?? row.content)
    const type = edit.type ?? row.type
    const isOtherText = type !== row.type || text.content !== row.content
    const needsReview = name !== row.name || isOtherText
    const kept = isOtherText ? await removeVendorCodes(tx, row) : row.gateway_codes
    const changed: TemplateRow = {
      ...row,
      name,
      type,
      ...text,
      gateway_codes:
        actor.kind !== 'account' && edit.gatewayCodes
          ? JSON.stringify(requireGatewayCodes(edit.gatewayCodes))
          : kept,
      ...(needsReview ? { status: '审核中', reason: '', revision: row.revision + 1 } : {}),
    }
    if (isOtherText) await removeVendorReviews(tx, 'template', id)
    else if (needsReview) await keepVendorReviews(tx, id, changed.revision)
    await updateTemplate(tx, changed)
    await recordTemplate(tx, actor, 'change', changed)
    return toTemplate(changed)
  })
}

/** The gateway codes without those that vendors gave to the present text. */
async function removeVendorCodes(tx: Tx, row: TemplateRow): Promise<string> {
  const reviews = await findVendorReviews(tx, 'template', [row.id])
  const codes = Object.entries(JSON.parse(row.gateway_codes) as Record<string, string>)
  const own = codes.filter(
    ([gateway, code]) => !reviews.some((one) => one.gateway === gateway && one.vendor_id === code),
  )
  return JSON.stringify(Object.fromEntries(own))
}

/** `revision` is the one that the reviewer has read, so that a later edit is not approved unseen. */
export async function reviewTemplate(
  db: Database,
  actor: Actor,
  id: number,
  review: { status: TemplateState; reason?: string | undefined; revision?: number },
): Promise<SmsTemplate> {
  if (actor.kind === 'account') throw noSuchTemplate()
  const reason = requireReason(review.status, review.reason ?? '')
  return db.write(async (tx) => {
    const row = requireVisible(actor, await lockTemplate(tx, id))
    if (review.revision !== undefined && review.revision !== row.revision) {
      throw new AppError(1002, {
        zh: '模板已被修改，请重新查看',
        en: 'the template was changed meanwhile, read it again',
      })
    }
    const changed: TemplateRow = { ...row, status: review.status, reason }
    await updateTemplate(tx, changed)
    if (row.account_id !== null) {
      const data = { template_code: row.code, status: review.status, reason }
      await emitEvents(tx, [{ accountId: row.account_id, type: 'template.reviewed', data }])
    }
    await recordTemplate(tx, actor, reviewActions[review.status], changed, reason === '' ? {} : { reason })
    return toTemplate(changed)
  })
}

/** Send records store the code and the values, so they do not need the template. */
export async function deleteTemplate(db: Database, actor: Actor, id: number): Promise<void> {
  await db.write(async (tx) => {
    const row = requireVisible(actor, await lockTemplate(tx, id))
    await removeTemplate(tx, id)
    await recordTemplate(tx, actor, 'delete', row)
  })
}

/** For an account: its own and the shared templates. For the operator: all templates. */
export async function listTemplates(
  db: Database,
  actor: Actor,
  filter: Pick<TemplateFilter, 'accountId' | 'code' | 'status'> = {},
): Promise<SmsTemplate[]> {
  const visibleTo = actor.kind === 'account' ? actor.accountId : undefined
  return (await findTemplates(db, { ...filter, visibleTo })).map(toTemplate)
}

/** One of the account's own or of the shared templates. */
export async function findTemplate(db: Database, accountId: number, id: number): Promise<SmsTemplate> {
  const [row] = await findTemplates(db, { visibleTo: accountId, id })
  if (!row) throw noSuchTemplate()
  return toTemplate(row)
}

/** The account's own and the shared templates, newest first. */
export async function pageTemplates(
  db: Database,
  accountId: number,
  { limit, offset, ...filter }: Pick<TemplateFilter, 'q' | 'status'> & { limit: number; offset: number },
): Promise<{ readonly templates: readonly SmsTemplate[]; readonly total: number }> {
  const { rows, total } = await findTemplatePage(db, { ...filter, visibleTo: accountId }, { limit, offset })
  return { templates: rows.map(toTemplate), total }
}

export type UsableTemplate = Pick<
  SmsTemplate,
  'code' | 'type' | 'content' | 'variables' | 'status' | 'gatewayCodes'
> & {
  /** False for a template that the operator shares with all accounts. */
  readonly isOwn: boolean
}

export function createTemplateLookup(
  db: Database,
): (accountId: number, code: string) => Promise<UsableTemplate | undefined> {
  const find = createTemplateRowLookup(db)
  // Calls of one turn get the same row.
  const read = memoizePerTick((row: UsableTemplateRow): UsableTemplate => ({
    isOwn: row.account_id !== null,
    code: row.code,
    type: row.type,
    content: row.content,
    variables: JSON.parse(row.variables) as string[],
    status: row.status,
    gatewayCodes: JSON.parse(row.gateway_codes) as Record<string, string>,
  }))
  return async (accountId, code) => {
    const row = await find(accountId, code)
    return row && read(row)
  }
}

export const reviewActions = { 审核通过: 'approve', 审核不通过: 'refuse', 审核中: 'reopen' } as const

/** A shared template has no account, so its code names it. */
function recordTemplate(
  tx: Tx,
  actor: Actor,
  action: 'create' | 'change' | 'delete' | (typeof reviewActions)[TemplateState],
  { id, account_id: accountId, name, code }: TemplateRow,
  details: AuditDetails = {},
): Promise<void> {
  const target = accountId === null ? code : { accountId }
  return recordChange(tx, actor, `template.${action}`, target, { id, name, code, ...details })
}

function toTemplate(row: TemplateRow): SmsTemplate {
  return {
    id: row.id,
    accountId: row.account_id,
    code: row.code,
    name: row.name,
    type: row.type,
    content: row.content,
    variables: JSON.parse(row.variables) as string[],
    status: row.status,
    reason: row.reason,
    gatewayCodes: JSON.parse(row.gateway_codes) as Record<string, string>,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function noSuchTemplate(): AppError {
  return new AppError(1007, {
    zh: '短信模板不存在或未通过审核',
    en: 'The SMS template does not exist or is not approved',
  })
}

function requireVisible(actor: Actor, row: TemplateRow | undefined): TemplateRow {
  if (!row || (actor.kind === 'account' && row.account_id !== actor.accountId)) throw noSuchTemplate()
  return row
}

function requireCode(code: string): string {
  if (isTemplateCode(code)) return code
  throw invalidField('code', {
    zh: `模板编号必须是 1 至 ${maxTemplateCodeLength} 个字母、数字、下划线或连字符`,
    en: `a template code has 1 to ${maxTemplateCodeLength} letters, digits, _ or -`,
  })
}

function requireName(given: string): string {
  const name = given.trim()
  const length = [...name].length
  if (length >= 1 && length <= maxTemplateNameLength && !hasHiddenCharacters(name)) return name
  throw invalidField('name', {
    zh: `模板名称必须是 1 至 ${maxTemplateNameLength} 个可见字符`,
    en: `a template name has 1 to ${maxTemplateNameLength} visible characters`,
  })
}

/** The text and the names of its variables. */
function requireContent(content: string): { content: string; variables: string } {
  if (
    content.trim() === '' ||
    content.length > maxSmsLength ||
    content.includes('\0') ||
    !content.isWellFormed()
  ) {
    throw invalidField('content', {
      zh: `模板内容必须是 1 至 ${maxSmsLength} 个字符`,
      en: `a template's content has 1 to ${maxSmsLength} characters`,
    })
  }
  const parsed = parseTemplate(content)
  if ('problem' in parsed) throw invalidField('content', parsed.problem)
  return { content, variables: JSON.stringify(parsed.variables) }
}

export function requireReason(status: TemplateState, given: string): string {
  const reason = given.trim()
  if (reason.length > maxReasonLength) {
    throw invalidField('reason', {
      zh: `原因最多 ${maxReasonLength} 个字符`,
      en: `a reason has ${maxReasonLength} characters at most`,
    })
  }
  if (status === '审核不通过' && reason === '')
    throw invalidField('reason', { zh: '审核不通过必须写明原因', en: 'a rejection needs a reason' })
  return status === '审核不通过' ? reason : ''
}

function requireGatewayCodes(codes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [gateway, code] of Object.entries(codes)) {
    if (!smsGatewayNames.includes(gateway) || !/^[\w.-]{1,64}$/.test(code)) {
      throw new AppError(1002, {
        zh: `网关模板必须形如 aliyun=SMS_123456，网关为 ${smsGatewayNames.join('、')}`,
        en: `a gateway's template looks like aliyun=SMS_123456, the gateways are ${smsGatewayNames.join(', ')}`,
      })
    }
  }
  return codes
}
