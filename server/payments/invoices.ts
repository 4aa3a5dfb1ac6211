// Invoice requests: an account holder asks for an invoice of paid orders, an operator uploads it or rejects the request.
import { formatMinor, type InvoiceKind, paymentLimits, taxNumberPattern } from '../../contract/payments.ts'
import type { Text } from '../../contract/text.ts'
import { hasHiddenCharacters } from '../../contract/values.ts'
import { type Account, lockAccount } from '../accounts/store.ts'
import { type OperatorActor, recordChange, recordOwnChange } from '../audit/audit.ts'
import type { Database, Tx } from '../db/database.ts'
import { createTextCipher } from '../encryption.ts'
import { isMailAddress } from '../events/alerts.ts'
import { AppError } from '../http/errors.ts'
import {
  countInvoices,
  findInvoiced,
  findInvoiceFile,
  insertInvoice,
  type InvoiceRow,
  lockInvoice,
  lockInvoicedOrders,
  lockOrdersByNumber,
  updateCorrected,
  updateIssued,
  updateRejected,
} from './invoice-store.ts'
import type { OrderRow } from './store.ts'

export interface InvoiceRequest {
  readonly kind: InvoiceKind
  readonly title: string
  readonly tax_number?: string
  readonly address?: string
  readonly mail: string
  readonly note?: string
  readonly orders: readonly string[]
}

export interface IssuedInvoice {
  readonly number: string
  readonly fileName: string
  /** A PDF in base64. */
  readonly file: string
}

export interface Invoices {
  request(account: Account, input: InvoiceRequest): Promise<number>
  issue(actor: OperatorActor, id: number, input: IssuedInvoice): Promise<void>
  reject(actor: OperatorActor, id: number, reason: string): Promise<void>
  /** By its holder, while it is not decided. */
  withdraw(account: Account, id: number): Promise<void>
  /** An order was refunded after the invoice was issued, and the operator has corrected it (红冲). */
  correct(actor: OperatorActor, id: number): Promise<void>
  /** Undefined accountId: for an operator. */
  readFile(
    accountId: number | undefined,
    id: number,
  ): Promise<{ readonly name: string; readonly content: Buffer }>
}

export function createInvoices(db: Database, secretKey: string): Invoices {
  const cipher = createTextCipher(secretKey, 'tollgate invoices')

  async function requireOpen(tx: Tx, id: number, accountId?: number): Promise<InvoiceRow> {
    const invoice = await lockInvoice(tx, id)
    if (!invoice || (accountId !== undefined && invoice.account_id !== accountId)) throw notFound()
    if (invoice.state === 'open') return invoice
    throw new AppError(
      1005,
      { zh: '该申请已处理', en: 'the request has already been processed' },
      { status: 409 },
    )
  }

  return {
    async request(account, input) {
      const fields = readFields(input)
      const numbers = [...new Set(input.orders)]
      return db.write(async (tx) => {
        await lockAccount(tx, account.id)
        if (
          (await countInvoices(tx, { accountId: account.id, state: 'open' })) >= paymentLimits.openInvoices
        ) {
          throw new AppError(1002, {
            zh: `最多 ${paymentLimits.openInvoices} 个待处理的发票申请`,
            en: `at most ${paymentLimits.openInvoices} invoice requests can wait`,
          })
        }
        const orders = await lockOrdersByNumber(tx, account.id, numbers)
        const problem = await findOrderProblem(tx, numbers, orders)
        if (problem) throw invalid({ orders: problem })
        const amount = sumOf(orders)
        const row = {
          ...fields,
          account_id: account.id,
          kind: input.kind,
          amount,
          currency: orders[0]!.currency,
        }
        return insertInvoice(
          tx,
          row,
          orders.map((order) => order.id),
        )
      })
    },

    async issue(actor, id, { number, fileName, file }) {
      const content = readPdf(file)
      const name = fileName.trim()
      if (name === '' || hasHiddenCharacters(name))
        throw invalid({ file_name: { zh: '文件名有误', en: 'the file name is not valid' } })
      if (hasHiddenCharacters(number))
        throw invalid({ number: { zh: '含不可见字符', en: 'contains hidden characters' } })
      const encrypted = cipher.encrypt(content.toString('base64'))
      await db.write(async (tx) => {
        const invoice = await requireOpen(tx, id)
        const orders = await lockInvoicedOrders(tx, id)
        if (sumOf(orders) !== invoice.amount) {
          throw new AppError(
            1005,
            {
              zh: `订单在申请后有退款，现为 ${formatMinor(sumOf(orders))}，请驳回并让账户重新申请`,
              en: `an order was refunded after the request, ${formatMinor(sumOf(orders))} are left: reject the request`,
            },
            { status: 409 },
          )
        }
        await updateIssued(tx, id, { number: number.trim(), fileName: name, file: encrypted })
        await recordChange(
          tx,
          actor,
          'invoice.issue',
          { accountId: invoice.account_id },
          describe(invoice, orders, number),
        )
      })
    },

    async reject(actor, id, reason) {
      await db.write(async (tx) => {
        const invoice = await requireOpen(tx, id)
        const orders = await lockInvoicedOrders(tx, id)
        await updateRejected(tx, id, { reason, withdrawn: false })
        await recordChange(
          tx,
          actor,
          'invoice.reject',
          { accountId: invoice.account_id },
          describe(invoice, orders, ''),
        )
      })
    },

    async withdraw(account, id) {
      await db.write(async (tx) => {
        const invoice = await requireOpen(tx, id, account.id)
        const orders = await lockInvoicedOrders(tx, id)
        await updateRejected(tx, id, { reason: '', withdrawn: true })
        await recordOwnChange(tx, account.id, 'invoice.withdraw', describe(invoice, orders, ''))
      })
    },

    async correct(actor, id) {
      await db.write(async (tx) => {
        const invoice = await lockInvoice(tx, id)
        if (!invoice) throw notFound()
        const orders = await lockInvoicedOrders(tx, id)
        const left = sumOf(orders)
        if (invoice.state !== 'issued' || left >= (invoice.corrected_amount ?? invoice.amount)) {
          throw new AppError(
            1005,
            { zh: '该发票没有需要红冲的退款', en: 'no refund of this invoice has to be corrected' },
            { status: 409 },
          )
        }
        await updateCorrected(tx, id, left)
        const details = { ...describe(invoice, orders, invoice.number), left: formatMinor(left) }
        await recordChange(tx, actor, 'invoice.correct', { accountId: invoice.account_id }, details)
      })
    },

    async readFile(accountId, id) {
      const row = await findInvoiceFile(db, id)
      if (!row || (accountId !== undefined && row.account_id !== accountId)) throw notFound()
      const base64 = cipher.decrypt(row.file)
      if (base64 === undefined) throw notFound()
      return { name: row.file_name, content: Buffer.from(base64, 'base64') }
    },
  }
}

const sumOf = (orders: readonly OrderRow[]) => orders.reduce((sum, one) => sum + one.amount - one.refunded, 0)

function describe(invoice: InvoiceRow, orders: readonly OrderRow[], number: string) {
  return {
    invoice: invoice.id,
    amount: formatMinor(invoice.amount),
    currency: invoice.currency,
    orders: orders.map((order) => order.number).join(' '),
    ...(number !== '' && { number }),
  }
}

/** All problems in one error. */
function readFields(input: InvoiceRequest) {
  const title = input.title.trim()
  const taxNumber = (input.tax_number ?? '').trim().toUpperCase()
  const address = (input.address ?? '').trim()
  const mail = input.mail.trim()
  const note = (input.note ?? '').trim()
  const problems: Record<string, Text> = {}
  const needed = { zh: '专用发票必填', en: 'required for a special VAT invoice' }
  const hidden = { zh: '含不可见字符', en: 'contains hidden characters' }
  if (title === '') problems['title'] = { zh: '必填', en: 'is required' }
  if (taxNumber !== '' && !new RegExp(taxNumberPattern).test(taxNumber)) {
    const { minTaxNumber: min, taxNumber: max } = paymentLimits
    problems['tax_number'] = {
      zh: `必须是 ${min} 至 ${max} 位数字与大写字母`,
      en: `has ${min} to ${max} digits and capital letters`,
    }
  }
  if (input.kind === 'special' && taxNumber === '') problems['tax_number'] = needed
  if (input.kind === 'special' && address === '') problems['address'] = needed
  if (!isMailAddress(mail)) problems['mail'] = { zh: '必须是邮箱地址', en: 'must be an email address' }
  for (const [name, text] of Object.entries({ title, address, note })) {
    if (hasHiddenCharacters(text)) problems[name] = hidden
  }
  if (Object.keys(problems).length > 0) throw invalid(problems)
  return { title, tax_number: taxNumber, address, mail, note }
}

async function findOrderProblem(
  tx: Tx,
  numbers: readonly string[],
  orders: readonly OrderRow[],
): Promise<Text | undefined> {
  const unknown = numbers.filter((number) => !orders.some((order) => order.number === number))
  if (unknown.length > 0) return { zh: `订单不存在：${unknown[0]}`, en: `no such order: ${unknown[0]}` }
  const unpaid = orders.find((order) => order.granted_at === null || order.amount <= order.refunded)
  if (unpaid)
    return { zh: `订单未支付或已全额退款：${unpaid.number}`, en: `not paid, or refunded: ${unpaid.number}` }
  if (new Set(orders.map((order) => order.currency)).size > 1) {
    return { zh: '订单的币种不同，请分别申请', en: 'the orders have different currencies' }
  }
  const invoiced = await findInvoiced(
    tx,
    orders.map((order) => order.id),
  )
  const taken = orders.find((order) => invoiced.has(order.id))
  return taken && { zh: `订单已申请发票：${taken.number}`, en: `already invoiced: ${taken.number}` }
}

function readPdf(base64: string): Buffer {
  const content = Buffer.from(base64, 'base64')
  const maxKb = paymentLimits.invoiceFile / 1024
  if (content.length > paymentLimits.invoiceFile) {
    throw invalid({ file: { zh: `文件不超过 ${maxKb} KB`, en: `a file has at most ${maxKb} kB` } })
  }
  // The name and the declared type of an upload prove nothing.
  if (content.subarray(0, 5).toString('latin1') !== '%PDF-') {
    throw invalid({ file: { zh: '必须是 PDF 文件', en: 'must be a PDF file' } })
  }
  return content
}

function invalid(fields: Readonly<Record<string, Text>>): AppError {
  const entries = Object.entries(fields)
  const text = {
    zh: entries.map(([name, problem]) => `${name}：${problem.zh}`).join('；'),
    en: entries.map(([name, problem]) => `${name}: ${problem.en}`).join('; '),
  }
  return new AppError(1002, text, { fields })
}

function notFound(): AppError {
  return new AppError(1007, { zh: '未找到', en: 'not found' })
}
