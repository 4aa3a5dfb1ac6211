// Which column of a CSV file is which parameter of a link, for the exports of known products.
import type { ImportFormat } from '../../../contract/link-import.ts'
import { formatTime } from '../../../contract/time.ts'

/** The parameters of `generate` that a file can have. */
export interface ImportInput {
  readonly target_url: string
  readonly title?: string
  readonly short_code?: string
  readonly tags?: readonly string[]
  readonly expires_at?: string
  readonly expired_url?: string
  readonly max_clicks?: string
  readonly external_id?: string
  readonly redirect_type?: string
  readonly redirect_url_a?: string
  /** Only of our own export: the domains of other products are not known here. */
  readonly domain?: string
  readonly rules?: readonly unknown[]
}

type ImportField = keyof ImportInput | 'short_url' | 'password'

/** Headings without case, spaces and punctuation. */
const headings: Readonly<Record<ImportField, readonly string[]>> = {
  target_url: [
    'targeturl',
    'target',
    'url',
    'longurl',
    'longlink',
    'destination',
    'destinationurl',
    'originalurl',
    '目标地址',
    '目标网址',
    '长链接',
    '长网址',
    '原始链接',
    '网址',
  ],
  short_code: [
    'shortcode',
    'code',
    'keyword',
    'address',
    'slug',
    'alias',
    'backhalf',
    'custombackhalf',
    '短码',
  ],
  short_url: ['shorturl', 'shortlink', 'link', 'bitlink', 'bitlylink', '短链接', '短网址'],
  title: ['title', 'linktitle', 'name', 'description', '标题', '名称', '备注'],
  tags: ['tags', 'tag', 'labels', '标签'],
  expires_at: ['expiresat', 'expirein', 'expires', 'expirationdate', 'validuntil', '到期时间'],
  expired_url: ['expiredurl', '到期后地址', '到期后的跳转地址'],
  max_clicks: ['maxclicks', 'maxvisits', '访问次数上限'],
  external_id: ['externalid', '外部编号'],
  redirect_type: ['redirecttype', '跳转方式'],
  redirect_url_a: ['redirecturla', 'aurl的跳转地址'],
  domain: ['domain', '自有域名'],
  rules: ['rules', '跳转规则'],
  password: ['haspassword', 'password', 'protected', 'passwordprotected', 'isprotected', '有密码', '密码'],
}

const normalize = (heading: string) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

export interface Columns {
  readonly format: ImportFormat
  /** Undefined when the row has no target. */
  read(cells: readonly string[]): ImportInput | undefined
  /** Whether the link had a password. No export has the password itself, so the new link would be open to everyone. */
  hasPassword(cells: readonly string[]): boolean
}

/** Undefined without a column of targets. */
export function findColumns(headingCells: readonly string[]): Columns | undefined {
  const names = headingCells.map(normalize)
  const columnOf = new Map<ImportField, number>()
  for (const [field, known] of Object.entries(headings) as [ImportField, readonly string[]][]) {
    // In the order of the list: `target` wins over `url` of the same file.
    const found = known.map((name) => names.indexOf(name)).find((index) => index !== -1)
    if (found !== undefined) columnOf.set(field, found)
  }
  if (!columnOf.has('target_url')) return undefined
  const format = formatOf(new Set(names))
  const cellOf = (cells: readonly string[], field: ImportField) =>
    plainCell(cells[columnOf.get(field) ?? -1] ?? '')
  return {
    format,
    hasPassword: (cells) => !/^(?:0|false|no|n|f|null|否)?$/i.test(cellOf(cells, 'password')),
    read(cells) {
      const cell = (field: ImportField) => cellOf(cells, field)
      const target = cell('target_url')
      if (target === '') return undefined
      const code = cell('short_code') || codeOfAddress(cell('short_url'))
      const isOwn = format === 'tollgate'
      const tags = splitTags(cell('tags'), isOwn)
      const rules = isOwn ? readRules(cell('rules')) : []
      const texts = {
        title: cell('title'),
        short_code: code,
        expires_at: readTime(cell('expires_at'), format),
        expired_url: cell('expired_url'),
        max_clicks: cell('max_clicks'),
        external_id: cell('external_id'),
        redirect_type: cell('redirect_type'),
        redirect_url_a: cell('redirect_url_a'),
        domain: isOwn ? cell('domain') : '',
      }
      const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))
      return {
        target_url: target,
        ...given,
        ...(tags.length > 0 && { tags }),
        ...(rules.length > 0 && { rules }),
      }
    },
  }
}

/** Tags in one cell, as our export has them. A separator inside of a tag follows a backslash. */
export function joinTags(tags: readonly string[]): string {
  return tags.map((tag) => tag.replaceAll(/[|,;，；、\\]/g, '\\$&')).join('|')
}

/** Other products may have a list in JSON. */
function splitTags(cell: string, isOwn: boolean): string[] {
  const list = isOwn || !cell.startsWith('[') ? undefined : readJsonList(cell)
  if (list?.every((tag) => typeof tag === 'string')) return list
  const tags = cell.match(/(?:\\.|[^|,;，；、\\]|\\$)+/gu) ?? []
  return tags.map((tag) => tag.replaceAll(/\\(.)/gu, '$1').trim()).filter((tag) => tag !== '')
}

/** A value that is not a list counts as one wrong rule, so that its row names the problem. */
function readRules(cell: string): readonly unknown[] {
  return cell === '' ? [] : (readJsonList(cell) ?? [cell])
}

/** Undefined for everything else. */
function readJsonList(cell: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(cell)
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}

function formatOf(names: ReadonlySet<string>): ImportFormat {
  const has = (...list: readonly string[]) => list.every((name) => names.has(name))
  if (has('targeturl', 'redirecttype') || has('目标地址', '跳转方式')) return 'tollgate'
  if (has('keyword', 'url')) return 'yourls'
  if (has('address', 'target')) return 'kutt'
  if (has('shortcode', 'longurl')) return 'shlink'
  return has('longurl') && ['link', 'bitlink', 'bitlylink', 'shortlink'].some((name) => names.has(name))
    ? 'bitly'
    : 'other'
}

/** Our exports, like others, write an apostrophe before text that would run as a formula. */
function plainCell(cell: string): string {
  const text = cell.trim()
  return /^'[=+\-@＝＋－＠]/.test(text) ? text.slice(1) : text
}

function codeOfAddress(address: string): string {
  const path = /^(?:https?:\/\/)?[^/]+\/([^?#]*)/i.exec(address)?.[1] ?? ''
  return path.split('/').findLast((part) => part !== '') ?? ''
}

/**
 * A time with its zone, as in ISO 8601 or as databases write it, becomes the form of the API; anything else is left for its message.
 * Kutt has no export of its own, and the default database of its table has times in UTC without a zone.
 */
function readTime(text: string, format: ImportFormat): string {
  const [, day, time, given = ''] =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|[+-]\d{2}(?::?\d{2})?)?$/.exec(text) ?? []
  const zone = given === '' && format === 'kutt' ? 'Z' : given
  if (day === undefined || zone === '') return text
  const at = Date.parse(`${day}T${time}${/^[+-]\d{2}$/.test(zone) ? `${zone}:00` : zone}`)
  return Number.isNaN(at) ? text : formatTime(at)
}
