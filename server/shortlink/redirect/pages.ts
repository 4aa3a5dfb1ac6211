// The pages for visitors of short links: bilingual, small, without script.
import type { Text } from '../../../contract/text.ts'

export interface Page {
  readonly status: number
  readonly html: string
  /** Names and values alternate; `pageHeaders` if left out. */
  readonly headers?: readonly string[]
}

const style = `body{font:17px/1.7 system-ui,"PingFang SC","Microsoft YaHei",sans-serif;max-width:34rem;margin:14vh auto;padding:0 1.5rem;color:#1f2328;background:#fff}
h1{font-size:1.5rem;margin:0 0 .5rem}p{margin:.4rem 0;color:#57606a}
strong{color:#1f2328;word-break:break-all}
a{display:inline-block;margin:1.2rem 0;padding:.6rem 1.6rem;border-radius:.5rem;background:#1f6feb;color:#fff;text-decoration:none}
a:focus-visible,button:focus-visible,input:focus-visible{outline:3px solid #9ec5fe}
label{display:block;margin:1rem 0 .3rem}
input{box-sizing:border-box;width:100%;padding:.6rem;font:inherit;border:1px solid #8c959f;border-radius:.5rem;background:#fff;color:#1f2328}
button{margin:1rem 0;padding:.6rem 1.6rem;border:0;border-radius:.5rem;background:#1f6feb;color:#fff;font:inherit;cursor:pointer}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}p{color:#9198a1}strong{color:#e6edf3}input{background:#161b22;color:#e6edf3;border-color:#656c76}}`

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
} as const

/** Browsers apply `form-action` to the redirect after a form too, and that leads to any website. */
const formHeaders = Object.entries({
  ...pageHeaders,
  'content-security-policy': pageHeaders['content-security-policy'].replace(
    `form-action 'none'`,
    `form-action 'self' http: https:`,
  ),
}).flat()

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

export const pausedPage = notice(
  410,
  { zh: '链接已暂停', en: 'This link is paused' },
  { zh: '请稍后再试，或联系发送者。', en: 'Try again later, or ask the sender.' },
)

export const expiredPage = notice(
  410,
  { zh: '链接已到期', en: 'This link has expired' },
  { zh: '请向发送者索取新的链接。', en: 'Ask the sender for a new one.' },
)

export const exhaustedPage = notice(
  410,
  { zh: '链接的访问次数已用完', en: 'This link has no visits left' },
  { zh: '请向发送者索取新的链接。', en: 'Ask the sender for a new one.' },
)

const passwordTexts = {
  ask: { status: 200, text: undefined },
  wrong: { status: 403, text: { zh: '密码不正确，请重试。', en: 'Wrong password, please try again.' } },
  too_many: {
    status: 429,
    text: { zh: '尝试次数过多，请稍后再试。', en: 'Too many attempts, please try again in a moment.' },
  },
} as const

/** Asks for the password of a link. The form posts to its own address, so it needs no data of the link. */
export function passwordPage(kind: keyof typeof passwordTexts): Page {
  return passwordPages[kind]
}

function createPasswordPage({
  status,
  text,
}: {
  readonly status: number
  readonly text: Text | undefined
}): Page {
  const problem = text
    ? `<p role="alert"><strong>${text.zh}</strong> <span lang="en">${text.en}</span></p>`
    : ''
  const content = `<h1>请输入访问密码</h1><p lang="en">Enter the password of this link</p>${problem}
<form method="post"><label for="password">密码 · Password</label>
<input id="password" name="password" type="password" required maxlength="64" autocomplete="off" autofocus>
<button type="submit">打开 · Open</button></form>`
  return { status, html: htmlPage('请输入访问密码 · Password', content), headers: formHeaders }
}

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

const passwordPages = {
  ask: createPasswordPage(passwordTexts.ask),
  wrong: createPasswordPage(passwordTexts.wrong),
  too_many: createPasswordPage(passwordTexts.too_many),
}

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
