// A statement as a CSV file: its rows, the digest of every byte above it, and the signature of the digest.
import { createHash, sign, verify } from 'node:crypto'
import { apiTypes, type ApiType } from '../../contract/credits.ts'
import { formatCsv } from '../../contract/csv.ts'
import type { Text } from '../../contract/text.ts'
import { formatTime } from '../../contract/time.ts'
import type { StatementKey } from './key.ts'

/** Credits of one type in a month: opening + bought - used + refunded + adjusted = closing. */
export interface StatementRow {
  readonly api_type: ApiType
  readonly opening: number
  readonly bought: number
  readonly used: number
  readonly refunded: number
  readonly adjusted: number
  readonly closing: number
}

export const amountColumns = ['opening', 'bought', 'used', 'refunded', 'adjusted', 'closing'] as const

export interface StatementContent {
  readonly account: string
  /** `2026-01` */
  readonly month: string
  readonly from: number
  /** Of the current month: now. */
  readonly until: number
  readonly isFinal: boolean
  /** Digest of the month before; empty for the first. */
  readonly previous: string
  readonly rows: readonly StatementRow[]
}

const title = 'tollgate statement'
const version = 1

/** Everything that the digest covers. */
export function formatContent(content: StatementContent): string {
  return formatCsv([
    [title, version],
    ['account', content.account],
    ['month', content.month],
    ['from', formatTime(content.from)],
    ['until', formatTime(content.until)],
    ['state', content.isFinal ? 'final' : 'provisional'],
    ['previous', content.previous],
    ['api_type', ...amountColumns],
    ...content.rows.map((row) => [row.api_type, ...amountColumns.map((column) => row[column])]),
  ])
}

export interface SignedStatement {
  readonly content: string
  readonly digest: string
  readonly signature: string
}

const signedText = (digest: string) => Buffer.from(`${title} ${version}\n${digest}\n`)

export function signContent(content: string, key: StatementKey): SignedStatement {
  const digest = createHash('sha256').update(content, 'utf8').digest('hex')
  return { content, digest, signature: sign(null, signedText(digest), key.privateKey).toString('base64') }
}

export function formatFile({ content, digest, signature }: SignedStatement, keyId: string): string {
  return `${content}digest,sha256,${digest}\r\nsignature,ed25519,${keyId},${signature}\r\n`
}

/** Undefined when the file is exactly as it was signed, else what is wrong. */
export function findFileProblem(
  bytes: Buffer,
  key: Pick<StatementKey, 'publicKey' | 'id'>,
): Text | undefined {
  const changed = { zh: '文件被改动或不完整', en: 'the file was changed or is incomplete' }
  const text = bytes.toString('utf8')
  // Bytes that are not UTF-8 would be lost in the text.
  if (!Buffer.from(text, 'utf8').equals(bytes)) return changed
  const match =
    /^([\s\S]*\r\n)digest,sha256,([\da-f]{64})\r\nsignature,ed25519,([\da-f]{16}),([A-Za-z\d+/=]{88})\r\n$/.exec(
      text,
    )
  const [, content, digest, keyId, signature] = match ?? []
  if (content === undefined || digest === undefined || signature === undefined) return changed
  if (!content.startsWith(`\uFEFF${title},${version}\r\n`)) return changed
  if (createHash('sha256').update(content, 'utf8').digest('hex') !== digest) return changed
  if (keyId !== key.id) {
    return { zh: `由另一个密钥签名（${keyId}）`, en: `signed with another key (${keyId})` }
  }
  const signatureBytes = Buffer.from(signature, 'base64')
  // The same bytes have several spellings in base64.
  if (signatureBytes.toString('base64') !== signature) return changed
  return verify(null, signedText(digest), key.publicKey, signatureBytes) ? undefined : changed
}

/** The rows of a stored statement. */
export function readRows(content: string): StatementRow[] {
  const lines = content.split('\r\n').map((line) => line.split(','))
  return apiTypes.flatMap((apiType) => {
    const line = lines.find(([first]) => first === apiType)
    if (!line) return []
    const values = Object.fromEntries(amountColumns.map((column, index) => [column, Number(line[index + 1])]))
    return [{ api_type: apiType, ...(values as Record<(typeof amountColumns)[number], number>) }]
  })
}
