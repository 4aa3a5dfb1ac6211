// `/report`: anyone can report a short link, without an account and without JavaScript.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { isReportReason, reportLimits, reportReasons } from '../../../contract/link-abuse.ts'
import type { Language, Text } from '../../../contract/text.ts'
import { isStorableText } from '../../../contract/values.ts'
import type { Database } from '../../db/database.ts'
import { networkKeys } from '../../http/network-keys.ts'
import { languageOf } from '../../http/call.ts'
import { type BodyContext, bytesOf, decodeInTurn } from '../../http/fastify-bodies.ts'
import { decodeBytes, parseForm } from '../../http/form.ts'
import { escapeHtml } from '../../http/html.ts'
import { parseJsonObject } from '../../http/json.ts'
import { smallBodyBytes } from '../../http/large-bodies.ts'
import { pageIn, visitorPageHeaders } from '../../http/visitor-page.ts'
import type { Services } from '../../services.ts'
import type { Codes } from '../codes/store.ts'
import { countOpenReports, insertReport } from './report-store.ts'
import { findLinkOfCode } from './store.ts'

interface ReportContext {
  readonly db: Database
  readonly codes: Codes
  readonly limits: Services['limits']
  readonly http: BodyContext
}

interface ReportInput {
  readonly url: string
  readonly reason: string
  readonly details: string
  readonly contact: string
}

const headers = visitorPageHeaders(`'self'`)

export function registerReportForm(api: FastifyInstance, context: ReportContext): void {
  api.route({
    method: ['GET', 'HEAD'],
    url: '/report',
    handler: (request, reply) => {
      const { url } = request.query as Readonly<Record<string, unknown>>
      const known = typeof url === 'string' && url.length <= reportLimits.addressLength ? url : ''
      return send(reply, 200, formHtml(languageOf(request.raw), { ...empty, url: known }))
    },
  })
  api.post('/report', { bodyLimit: smallBodyBytes }, async (request, reply) => {
    const language = languageOf(request.raw)
    const input = await decodeInTurn(context.http, request, bytesOf(request), (bytes) =>
      readInput(bytes, request.headers['content-type']),
    )
    const problem = input === undefined ? unreadable : problemOf(input)
    if (input === undefined || problem) return send(reply, 400, formHtml(language, input ?? empty, problem))
    const address = context.http.addressOf(request.raw)
    const attempt = await context.limits.attempts.attempt(
      networkKeys(address, reportLimits, 'report '),
      reportLimits.windowMs,
    )
    if ('retryAfterMs' in attempt) {
      reply.header('retry-after', String(Math.ceil(attempt.retryAfterMs / 1000)))
      return send(reply, 429, formHtml(language, input, tooMany))
    }
    return store(context, input, language, reply)
  })
}

async function store(
  context: ReportContext,
  input: ReportInput,
  language: Language,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const code = codeOf(input.url)
  const link = code === undefined ? undefined : await findLinkOfCode(context.db, code, context.codes)
  if (!link) return send(reply, 400, formHtml(language, input, unknownLink))
  const address = `link:${link.code}`
  const open = await countOpenReports(context.db, address, reportLimits.open)
  if (open.all >= reportLimits.open) return send(reply, 503, formHtml(language, input, full))
  if (open.ofAddress < reportLimits.openPerAddress) {
    const { reason, details, contact } = input
    await context.db.write((tx) => insertReport(tx, { link_id: link.id, address, reason, details, contact }))
  }
  return send(reply, 200, receivedHtml(language))
}

/** A form, or JSON. Undefined for anything else. */
function readInput(bytes: Buffer, contentType = ''): ReportInput | undefined {
  try {
    const isJson = /^application\/json\b/i.test(contentType)
    const fields: Readonly<Record<string, unknown>> = isJson
      ? parseJsonObject(decodeBytes(bytes, 'utf-8'))
      : parseForm(bytes)
    const field = (name: string) => {
      const value = fields[name]
      return typeof value === 'string' ? value.trim() : ''
    }
    return {
      url: field('url'),
      reason: field('reason') || 'other',
      details: field('details'),
      contact: field('contact'),
    }
  } catch {
    return undefined
  }
}

function problemOf({ url, reason, details, contact }: ReportInput): Text | undefined {
  const { addressLength, detailsLength, contactLength } = reportLimits
  if (![url, details, contact].every(isStorableText)) return unreadable
  if (url === '') return { zh: '请填写短链接地址。', en: 'Enter the short link.' }
  if (!isReportReason(reason)) return { zh: '请选择原因。', en: 'Choose a reason.' }
  if (url.length > addressLength || details.length > detailsLength || contact.length > contactLength)
    return {
      zh: `内容过长：说明最多 ${detailsLength} 个字符，联系方式最多 ${contactLength} 个。`,
      en: `Too long: at most ${detailsLength} characters of details and ${contactLength} of contact.`,
    }
  return undefined
}

/** The code of an address in any form: `https://host/b/CODE?x`, `host/CODE`, `CODE`. */
export function codeOf(address: string): string | undefined {
  const path = /^(?:https?:\/\/)?([^?#]*)/i.exec(address.trim())?.[1] ?? ''
  const code = path.split('/').findLast((part) => part !== '')
  return code !== undefined && /^[\w-]{3,32}$/.test(code) ? code : undefined
}

const empty: ReportInput = { url: '', reason: '', details: '', contact: '' }

const unreadable: Text = { zh: '内容无法读取，请重新填写。', en: 'The form could not be read.' }
const unknownLink: Text = {
  zh: '这不是本平台的短链接，请检查地址。',
  en: 'This is not one of our short links. Check the address.',
}
const tooMany: Text = { zh: '提交过于频繁，请稍后再试。', en: 'Too many reports. Try again later.' }
const full: Text = {
  zh: '目前无法接收更多举报，请稍后再试。',
  en: 'No more reports can be accepted right now. Try again later.',
}

const formStyle = `<style>label{display:block;margin:1rem 0 .2rem}input,select,textarea{width:100%;box-sizing:border-box;font:inherit;padding:.5rem;border:1px solid #8c959f;border-radius:.4rem;background:transparent;color:inherit}
option{color:#1f2328}button{margin:1.4rem 0;padding:.6rem 1.6rem;border:0;border-radius:.5rem;background:#1f6feb;color:#fff;font:inherit;cursor:pointer}
[role=alert]{color:#cf222e}@media(prefers-color-scheme:dark){[role=alert]{color:#ff7b72}}</style>`

const formTexts = {
  zh: {
    heading: '举报短链接',
    url: '短链接地址',
    reason: '原因',
    details: '说明（选填）',
    contact: '联系方式（选填）',
    send: '提交',
  },
  en: {
    heading: 'Report a short link',
    url: 'Short link',
    reason: 'Reason',
    details: 'Details (optional)',
    contact: 'Contact (optional)',
    send: 'Submit',
  },
} as const

function formHtml(language: Language, input: ReportInput, problem?: Text): string {
  const text = formTexts[language]
  const options = Object.entries(reportReasons).map(
    ([value, name]) =>
      `<option value="${value}"${input.reason === value ? ' selected' : ''}>${name[language]}</option>`,
  )
  const alert = problem ? `<p role="alert">${problem[language]}</p>` : ''
  const { addressLength, detailsLength, contactLength } = reportLimits
  return pageIn(
    language,
    text.heading,
    `${formStyle}<h1>${text.heading}</h1>${alert}
<form method="post" action="/report">
<label for="url">${text.url}</label><input id="url" name="url" required maxlength="${addressLength}" value="${escapeHtml(input.url)}">
<label for="reason">${text.reason}</label><select id="reason" name="reason">${options.join('')}</select>
<label for="details">${text.details}</label><textarea id="details" name="details" rows="4" maxlength="${detailsLength}">${escapeHtml(input.details)}</textarea>
<label for="contact">${text.contact}</label><input id="contact" name="contact" maxlength="${contactLength}" value="${escapeHtml(input.contact)}">
<button>${text.send}</button></form>`,
  )
}

const received = {
  zh: { heading: '已收到举报', text: '我们会尽快核实处理。' },
  en: { heading: 'Report received', text: 'Thank you. We will review the link soon.' },
} as const

function receivedHtml(language: Language): string {
  const { heading, text } = received[language]
  return pageIn(language, heading, `<h1>${heading}</h1><p>${text}</p>`)
}

function send(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).headers(headers).send(html)
}
