// The pages for visitors of short links: in the visitor's language, small, without script.
import type { Language, Text } from '../../../contract/text.ts'

export interface Page {
  readonly status: number
  readonly html: Readonly<Record<Language, string>>
  /** Names and values alternate; `pageHeaders` if left out. */
  readonly headers?: readonly string[]
}

const style = `body{font:17px/1.7 system-ui,"PingFang SC","Microsoft YaHei",sans-serif;max-width:34rem;margin:14vh auto;padding:0 1.5rem;color:#1f2328;background:#fff}
h1{font-size:1.5rem;margin:0 0 .5rem;overflow-wrap:break-word}p{margin:.4rem 0;color:#57606a}
strong{color:#1f2328;overflow-wrap:anywhere}
.brand{display:flex;gap:.6rem;align-items:center;margin:0 0 2rem;font-weight:600;color:#1f2328}.title{font-size:1.1rem;color:#1f2328;overflow-wrap:anywhere}
a{display:inline-block;margin:1.2rem 0;padding:.6rem 1.6rem;border-radius:.5rem;background:#1f6feb;color:#fff;text-decoration:none}
a:focus-visible,button:focus-visible,input:focus-visible{outline:3px solid #9ec5fe}
label{display:block;margin:1rem 0 .3rem}
input{box-sizing:border-box;width:100%;padding:.6rem;font:inherit;border:1px solid #8c959f;border-radius:.5rem;background:#fff;color:#1f2328}
button{margin:1rem 0;padding:.6rem 1.6rem;border:0;border-radius:.5rem;background:#1f6feb;color:#fff;font:inherit;cursor:pointer}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}p{color:#9198a1}strong,.brand,.title{color:#e6edf3}input{background:#161b22;color:#e6edf3;border-color:#656c76}}`

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

const logo = `<p class="brand"><svg width="32" height="32" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#3b5bdb"/><path d="M9 25V9m0 4 15-5M9 25h5" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/><circle cx="9" cy="9" r="2.4" fill="#fff"/></svg>Tollgate</p>`

function inBoth(create: (language: Language) => string): Readonly<Record<Language, string>> {
  return { zh: create('zh'), en: create('en') }
}

/** A page in one language, with the logo. */
export function pageIn(language: Language, title: string, content: string): string {
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${style}</style></head>
<body><main>${logo}${content}</main></body></html>
`
}

function notice(status: number, heading: Text, text: Text): Page {
  const html = inBoth((language) =>
    pageIn(language, heading[language], `<h1>${heading[language]}</h1><p>${text[language]}</p>`),
  )
  return { status, html }
}

export const unknownPage = notice(
  404,
  { zh: '链接不存在', en: 'No such link' },
  {
    zh: '请检查地址是否完整，大小写是否一致。',
    en: 'Check that the address is complete; upper and lower case matter.',
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
  wrong: { status: 403, text: { zh: '密码不正确，请重试。', en: 'Wrong password. Try again.' } },
  too_many: {
    status: 429,
    text: { zh: '尝试次数过多，请稍后再试。', en: 'Too many attempts. Try again in a moment.' },
  },
} as const

const passwordForm = {
  zh: { heading: '请输入访问密码', label: '密码', open: '打开' },
  en: { heading: 'Enter the password of this link', label: 'Password', open: 'Open' },
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
  const html = inBoth((language) => {
    const { heading, label, open } = passwordForm[language]
    const problem = text ? `<p role="alert"><strong>${text[language]}</strong></p>` : ''
    return pageIn(
      language,
      heading,
      `<h1>${heading}</h1>${problem}
<form method="post"><label for="password">${label}</label>
<input id="password" name="password" type="password" required maxlength="64" autocomplete="off" autofocus>
<button type="submit">${open}</button></form>`,
    )
  })
  return { status, html, headers: formHeaders }
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
  { zh: '请稍后再试。', en: 'Try again in a moment.' },
)

const passwordPages = {
  ask: createPasswordPage(passwordTexts.ask),
  wrong: createPasswordPage(passwordTexts.wrong),
  too_many: createPasswordPage(passwordTexts.too_many),
}

const leaving = {
  zh: { heading: '即将离开', text: '您将前往', go: '继续访问' },
  en: { heading: 'You are leaving this site', text: 'You are about to visit', go: 'Continue' },
} as const

/** Shows the title of the link and the host of the target, and links to it. */
export function destinationHtml(location: string, title: string, language: Language): string {
  const host = escapeHtml(new URL(location).host)
  const { heading, text, go } = leaving[language]
  const shown = title === '' ? '' : `<p class="title">${escapeHtml(title)}</p>`
  return pageIn(
    language,
    title === '' ? `${text} ${host}` : escapeHtml(title),
    `<h1>${heading}</h1>${shown}<p>${text} <strong>${host}</strong></p>
<a href="${escapeHtml(location)}" rel="noreferrer noopener nofollow">${go}</a>`,
  )
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
