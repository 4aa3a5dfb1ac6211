// Templates as accounts and the operator handle them: made, edited, reviewed, deleted, listed.
import { randomUUID } from 'node:crypto'
import { longestText, parseTemplate, type TemplateState } from '../../contract/sms-text.ts'
import type { Database, Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { gatewayNames } from './gateways.ts'
import {
  findTemplateFor,
  findTemplatePage,
  findTemplates,
  findTemplatesFor,
  insertTemplate,
  isSharedCode,
  isTakenCode,
  lockTemplate,
  removeTemplate,
  setTemplateCode,
  templateLookup,
  type TemplateRow,
  type TemplateSearch,
  updateTemplate,
} from './template-store.ts'

/** An account touches its own templates only; to it, all others do not exist. */
export type Actor = { readonly kind: 'account'; readonly accountId: number } | { readonly kind: 'operator' }

export interface Template {
  readonly id: number
  readonly accountId: number | null
  readonly code: string
  readonly name: string
  readonly content: string
  readonly variables: readonly string[]
  readonly status: TemplateState
  readonly reason: string
  readonly gatewayCodes: Readonly<Record<string, string>>
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface TemplateWish {
  /** Made from the id when left out. */
  readonly code?: string | undefined
  readonly name: string
  readonly content: string
  /** Whose it is; null shares it with everyone. Only the operator chooses. */
  readonly accountId?: number | null
  /** Only the operator chooses; what an account makes waits for review. */
  readonly status?: TemplateState
  readonly reason?: string
  /** The template's id at each gateway; its code where none is given. */
  readonly gatewayCodes?: Readonly<Record<string, string>>
}

export async function createTemplate(db: Database, actor: Actor, wish: TemplateWish): Promise<Template> {
  const accountId = actor.kind === 'account' ? actor.accountId : (wish.accountId ?? null)
  const byOperator = actor.kind === 'operator'
  const code = wish.code === undefined ? undefined : requireCode(wish.code)
  const name = requireName(wish.name)
  const content = requireContent(wish.content)
  const row = await db.write(async (tx) => {
    // An account's own template would hide the shared one from it.
    if (code !== undefined && accountId !== null && (await isSharedCode(tx, code))) return undefined
    const inserted = await insertTemplate(tx, {
      accountId,
      code: code ?? `new-${randomUUID()}`,
      name,
      ...content,
      status: byOperator ? (wish.status ?? '审核中') : '审核中',
      reason: byOperator ? requireReason(wish.status ?? '审核中', wish.reason ?? '') : '',
      gatewayCodes: JSON.stringify(byOperator ? requireGatewayCodes(wish.gatewayCodes ?? {}) : {}),
    })
    return inserted && code === undefined ? nameById(tx, inserted) : inserted
  })
  if (!row) {
    throw invalid(`模板编号 ${code} 已存在`, `the template code ${code} is taken`, 'code')
  }
  return templateOf(row)
}

/** `SMS_17`; where somebody has given that name away, `SMS_17_1` and so on. */
async function nameById(tx: Tx, row: TemplateRow): Promise<TemplateRow> {
  for (let tries = 0; ; tries += 1) {
    const code = tries === 0 ? `SMS_${row.id}` : `SMS_${row.id}_${tries}`
    if (await isTakenCode(tx, row.account_id, code)) continue
    await setTemplateCode(tx, row.id, code)
    return { ...row, code }
  }
}

export interface TemplateEdit {
  readonly name?: string
  readonly content?: string
  /** Only the operator's. */
  readonly gatewayCodes?: Readonly<Record<string, string>>
}

/** New words have to be reviewed again, whatever the state was before; where gateways know it is no matter of review. */
export async function editTemplate(
  db: Database,
  actor: Actor,
  id: number,
  edit: TemplateEdit,
): Promise<Template> {
  return db.write(async (tx) => {
    const row = requireVisible(actor, await lockTemplate(tx, id))
    const name = edit.name === undefined ? row.name : requireName(edit.name)
    const text = requireContent(edit.content ?? row.content)
    const newWords = name !== row.name || text.content !== row.content
    const gatewayCodes =
      actor.kind === 'operator' && edit.gatewayCodes
        ? JSON.stringify(requireGatewayCodes(edit.gatewayCodes))
        : row.gateway_codes
    const changed: TemplateRow = {
      ...row,
      name,
      ...text,
      gateway_codes: gatewayCodes,
      ...(newWords ? { status: '审核中', reason: '', revision: row.revision + 1 } : {}),
    }
    await updateTemplate(tx, id, changed)
    return templateOf(changed)
  })
}

/** `revision` is the one the reviewer has read: words that were changed meanwhile are not approved unseen. */
export async function reviewTemplate(
  db: Database,
  actor: Actor,
  id: number,
  review: { status: TemplateState; reason?: string | undefined; revision?: number },
  alongside?: (tx: Tx, template: Template) => Promise<void>,
): Promise<Template> {
  if (actor.kind !== 'operator') throw noSuchTemplate()
  const reason = requireReason(review.status, review.reason ?? '')
  return db.write(async (tx) => {
    const row = requireVisible(actor, await lockTemplate(tx, id))
    if (review.revision !== undefined && review.revision !== row.revision) {
      throw invalid('模板已被修改，请重新查看', 'the template was changed meanwhile, read it again')
    }
    const changed: TemplateRow = { ...row, status: review.status, reason }
    await updateTemplate(tx, id, changed)
    const template = templateOf(changed)
    await alongside?.(tx, template)
    return template
  })
}

/** Records keep the code and the values, so nothing depends on the template after it was used. */
export async function deleteTemplate(db: Database, actor: Actor, id: number): Promise<void> {
  await db.write(async (tx) => {
    requireVisible(actor, await lockTemplate(tx, id))
    await removeTemplate(tx, id)
  })
}

/** What an account may send with or is waiting for; for the operator everything, or what the filter leaves. */
export async function listTemplates(
  db: Database,
  actor: Actor,
  filter: { accountId?: number | null; status?: TemplateState } = {},
): Promise<Template[]> {
  const rows =
    actor.kind === 'account'
      ? (await findTemplatesFor(db, actor.accountId)).filter(
          ({ status }) => filter.status === undefined || status === filter.status,
        )
      : await findTemplates(db, filter)
  return rows.map(templateOf)
}

/** One of the account's own, or a shared one it can use. */
export async function findTemplate(db: Database, accountId: number, id: number): Promise<Template> {
  const row = await findTemplateFor(db, accountId, id)
  if (!row) throw noSuchTemplate()
  return templateOf(row)
}

/** A page of what an account may send with or is waiting for, the newest first. */
export async function pageTemplates(
  db: Database,
  accountId: number,
  search: TemplateSearch,
): Promise<{ readonly templates: readonly Template[]; readonly total: number }> {
  const { rows, total } = await findTemplatePage(db, accountId, search)
  return { templates: rows.map(templateOf), total }
}

export type UsableTemplate = Pick<Template, 'code' | 'content' | 'variables' | 'status' | 'gatewayCodes'>

/** What an account means by a code when it sends. */
export function usableTemplates(
  db: Database,
): (accountId: number, code: string) => Promise<UsableTemplate | undefined> {
  const find = templateLookup(db)
  return async (accountId, code) => {
    const row = await find(accountId, code)
    return (
      row && {
        code: row.code,
        content: row.content,
        variables: JSON.parse(row.variables) as string[],
        status: row.status,
        gatewayCodes: JSON.parse(row.gateway_codes) as Record<string, string>,
      }
    )
  }
}

function templateOf(row: TemplateRow): Template {
  return {
    id: row.id,
    accountId: row.account_id,
    code: row.code,
    name: row.name,
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
  if (/^[A-Za-z0-9_-]{1,64}$/.test(code)) return code
  throw invalid(
    '模板编号须为 1 至 64 个字母、数字、下划线或连字符',
    'a template code has 1 to 64 letters, digits, _ or -',
    'code',
  )
}

function requireName(given: string): string {
  const name = given.trim()
  const length = [...name].length
  if (length >= 1 && length <= 50 && !/\p{Cc}/u.test(name) && name.isWellFormed()) return name
  throw invalid('模板名称须为 1 至 50 个字符', 'a template name has 1 to 50 characters', 'name')
}

/** The text and, read from it once and for all, the names of its variables. */
function requireContent(content: string): { content: string; variables: string } {
  if (
    content.trim() === '' ||
    content.length > longestText ||
    content.includes('\0') ||
    !content.isWellFormed()
  ) {
    throw invalid(
      `模板内容须为 1 至 ${longestText} 个字符`,
      `a template's content has 1 to ${longestText} characters`,
      'content',
    )
  }
  const parsed = parseTemplate(content)
  if ('problem' in parsed) throw invalid(parsed.problem.zh, parsed.problem.en, 'content')
  return { content, variables: JSON.stringify(parsed.variables) }
}

export function requireReason(status: TemplateState, given: string): string {
  const reason = given.trim()
  if (reason.length > 200)
    throw invalid('原因至多 200 个字符', 'a reason has 200 characters at most', 'reason')
  if (status === '审核不通过' && reason === '')
    throw invalid('审核不通过须写明原因', 'a rejection needs a reason', 'reason')
  return status === '审核不通过' ? reason : ''
}

function requireGatewayCodes(codes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [gateway, code] of Object.entries(codes)) {
    if (!(gatewayNames as readonly string[]).includes(gateway) || !/^[\w.-]{1,64}$/.test(code)) {
      throw invalid(
        `网关模板须如 aliyun=SMS_123456，网关为 ${gatewayNames.join('、')}`,
        `a gateway's template looks like aliyun=SMS_123456, the gateways are ${gatewayNames.join(', ')}`,
      )
    }
  }
  return codes
}

function invalid(zh: string, en: string, field?: string): AppError {
  return new AppError(1002, { zh, en }, field === undefined ? {} : { fields: { [field]: { zh, en } } })
}
