// The pages for visitors of short links: bilingual, small, without script.
import type { Text } from '../../../contract/text.ts'

export interface Page {
  readonly status: number
  readonly html: string
}

const style = `body{font:17px/1.7 system-ui,"PingFang SC","Microsoft YaHei",sans-serif;max-width:34rem;margin:14vh auto;padding:0 1.5rem;color:#1f2328;background:#fff}
h1{font-size:1.5rem;margin:0 0 .5rem}p{margin:.4rem 0;color:#57606a}
strong{color:#1f2328;word-break:break-all}
a{display:inline-block;margin:1.2rem 0;padding:.6rem 1.6rem;border-radius:.5rem;background:#1f6feb;color:#fff;text-decoration:none}
a:focus-visible{outline:3px solid #9ec5fe}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}p{color:#9198a1}strong{color:#e6edf3}}`

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
} as const

export function htmlPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="zh-CN"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${style}</style></head>
<body><main>${content}</main></body></html>
`
}

function notice(status: number, heading: Text, text: Text): Page {
  const content = `<h1>${heading.zh}</h1><p>${text.zh}</p><p lang="en"><strong>${heading.en}.</strong> ${text.en}</p>`
  return { status, html: htmlPage(`${heading.zh} · ${heading.en}`, content) }
}

export const unknownPage = notice(
  404,
  { zh: '链接不存在', en: 'No such link' },
  {
    zh: '请检查地址是否完整，大小写是否一致。',
    en: 'Please check that the address is complete; upper and lower case matter.',
  },
)

export const retiredPage = notice(
  410,
  { zh: '链接已失效', en: 'This link is no longer valid' },
  {
    zh: '它已被更换或停用，请向发送者索取新的链接。',
    en: 'It was replaced or switched off. Ask the sender for the new one.',
  },
)

export const bannedPage = notice(
  410,
  { zh: '链接已被平台禁用', en: 'This link was banned' },
  {
    zh: '该链接或其目标网站违反了平台规则，已被禁止访问。',
    en: 'The link or the website it leads to broke the rules of this platform.',
  },
)

export const unavailablePage = notice(
  503,
  { zh: '暂时无法打开', en: 'Not available right now' },
  { zh: '请稍后再试。', en: 'Please try again in a moment.' },
)

/** Shows the host of the target and links to it. */
export function destinationPage(location: string): Page {
  const host = escapeHtml(new URL(location).host)
  const content = `<h1>即将离开</h1><p>您将前往 <strong>${host}</strong></p>
<p lang="en">You are about to visit <strong>${host}</strong></p>
<a href="${escapeHtml(location)}" rel="noreferrer noopener nofollow">继续访问 · Continue</a>`
  return { status: 200, html: htmlPage(`前往 ${host}`, content) }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}
