// Turns the rows of a file into messages: which column is what, which rows cannot be sent, and slices of the API's size.
import { isPhoneNumber, maxBatchMessages } from '../../../contract/sms-text.ts'
import type { Row, Table } from './file-problems.ts'

export interface RecipientColumns {
  /** Empty when the file has no headings. */
  readonly headings: readonly string[]
  readonly count: number
  /** The rows after the headings. */
  readonly rows: readonly Row[]
}

/** The column of the phone numbers and of each variable; undefined until one is chosen. */
export interface ColumnChoice {
  readonly phone: number | undefined
  readonly variables: Readonly<Record<string, number | undefined>>
}

export interface Recipient {
  readonly line: number
  readonly phone: string
  readonly params: Readonly<Record<string, string>>
}

/** Found in the browser; the service checks everything else. */
export type LocalProblem =
  | { readonly kind: 'phone' | 'scientific' | 'repeated' | 'cut' }
  | { readonly kind: 'variables'; readonly names: readonly string[] }

export interface RejectedRow {
  readonly line: number
  /** As in the file. */
  readonly phone: string
  readonly problem: LocalProblem
}

const sampleRows = 100

/** A first row with a phone number is not a heading. */
export function splitHeadings({ rows }: Table): RecipientColumns {
  const first = rows[0]?.cells ?? []
  const hasHeadings = !first.some((cell) => isPhoneNumber(normalPhone(cell)))
  const body = hasHeadings ? rows.slice(1) : rows
  const count = rows
    .slice(0, sampleRows)
    .reduce((max, { cells }) => Math.max(max, cells.length), first.length)
  return { headings: hasHeadings ? first : [], count, rows: body }
}

const phoneHeading = /手机|电话|号码|phone|mobile|tel/i

/** By the content of the first rows, then by the heading. */
export function guessColumns(columns: RecipientColumns, variables: readonly string[]): ColumnChoice {
  const sample = columns.rows.slice(0, sampleRows)
  const indexes = Array.from({ length: columns.count }, (_one, index) => index)
  const scores = indexes.map((index) => {
    const hits = sample.filter(({ cells }) => isPhoneNumber(normalPhone(cells[index] ?? ''))).length
    return hits * 2 + (phoneHeading.test(columns.headings[index] ?? '') ? 1 : 0)
  })
  const best = Math.max(0, ...scores)
  const phone = best === 0 ? undefined : scores.indexOf(best)
  const others = indexes.filter((index) => index !== phone)
  const named = (name: string) =>
    others.find((index) => plain(columns.headings[index] ?? '') === plain(name)) ??
    others.find((index) => plain(columns.headings[index] ?? '').includes(plain(name)))
  const onlyOne = variables.length === 1 && others.length === 1 ? others[0] : undefined
  return {
    phone,
    variables: Object.fromEntries(variables.map((name) => [name, named(name) ?? onlyOne])),
  }
}

/** `${code}`, `Code` and `CODE ` are the same heading. */
function plain(text: string): string {
  return text.replaceAll(/[\s${}_-]/g, '').toLowerCase()
}

/** Spaces, hyphens, full-width digits and the country code are how people write numbers, not part of them. */
function normalPhone(cell: string): string {
  const digits = cell.normalize('NFKC').replaceAll(/[\s\-()'‐–—\u200b-\u200f\u202a-\u202e\ufeff]/g, '')
  return digits.replace(/^(?:\+|00)?86(?=1\d{10}$)/, '')
}

/** A spreadsheet has saved the number as 1.38E+10: the last digits are lost. */
const scientific = /^\d(?:\.\d+)?E\+?\d+$/i

export function readRecipients(
  { rows }: RecipientColumns,
  choice: ColumnChoice,
): { readonly recipients: readonly Recipient[]; readonly rejected: readonly RejectedRow[] } {
  const recipients: Recipient[] = []
  const rejected: RejectedRow[] = []
  const seen = new Set<string>()
  const variables = Object.entries(choice.variables)
  for (const { line, cells, isCut } of rows) {
    const given = choice.phone === undefined ? '' : (cells[choice.phone] ?? '').trim()
    const phone = normalPhone(given)
    const reject = (problem: LocalProblem) => rejected.push({ line, phone: given, problem })
    const params = Object.fromEntries(
      variables.map(([name, index]) => [name, index === undefined ? '' : (cells[index] ?? '').trim()]),
    )
    const empty = variables.filter(([name]) => params[name] === '').map(([name]) => name)
    if (scientific.test(phone)) reject({ kind: 'scientific' })
    else if (!isPhoneNumber(phone)) reject({ kind: 'phone' })
    else if (isCut) reject({ kind: 'cut' })
    else if (empty.length > 0) reject({ kind: 'variables', names: empty })
    else if (seen.has(phone)) reject({ kind: 'repeated' })
    else {
      seen.add(phone)
      recipients.push({ line, phone, params })
    }
  }
  return { recipients, rejected }
}

/** Well below the size of a request body that the service accepts, and the number of names in it. */
const maxSliceLength = 250_000
const maxSliceNames = 8_000

/** Slices that one call takes: at most the messages of a batch, and not too much text. */
export function sliceRecipients(recipients: readonly Recipient[]): readonly (readonly Recipient[])[] {
  const slices: Recipient[][] = []
  let current: Recipient[] = []
  let length = 0
  let names = 0
  for (const recipient of recipients) {
    const values = Object.entries(recipient.params)
    const size = values.reduce((sum, [name, value]) => sum + name.length + value.length, 60)
    const isFull =
      current.length === maxBatchMessages ||
      length + size > maxSliceLength ||
      names + values.length + 2 > maxSliceNames
    if (current.length > 0 && isFull) {
      slices.push(current)
      current = []
      length = 0
      names = 0
    }
    current.push(recipient)
    length += size
    names += values.length + 2
  }
  if (current.length > 0) slices.push(current)
  return slices
}
