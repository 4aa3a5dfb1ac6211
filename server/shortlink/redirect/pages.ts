// The pages for visitors of short links: in the visitor's language, small, without script.
import { linkLimits } from '../../../contract/shortlink.ts'
import type { Language, Text } from '../../../contract/text.ts'
import { escapeHtml } from '../../http/html.ts'
import { pageIn, visitorPageHeaders } from '../../http/visitor-page.ts'

export interface Page {
  readonly status: number
  readonly html: Readonly<Record<Language, string>>
  /** Names and values alternate; `pageHeaders` if left out. */
  readonly headers?: readonly string[]
}

export const pageHeaders = visitorPageHeaders()

/** Browsers apply `form-action` to the redirect after a form too, and that leads to any website. */
const formHeaders = Object.entries(visitorPageHeaders(`'self' http: https:`)).flat()

function inBoth(create: (language: Language) => string): Readonly<Record<Language, string>> {
  return { zh: create('zh'), en: create('en') }
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
<input id="password" name="password" type="password" required maxlength="${linkLimits.passwordLength.max}" autocomplete="off" autofocus>
<button type="submit">${open}</button></form>`,
    )
  })
  return { status, html, headers: formHeaders }
}

export const bannedPage = notice(
  410,
  { zh: '链接已被平台封禁', en: 'This link was banned' },
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

/** A long host name breaks after a dot. */
function breakable(host: string): string {
  return host.replaceAll('.', '.<wbr>')
}

/** Shows the title of the link and the host of the target, and links to it. */
export function destinationHtml(location: string, title: string, language: Language): string {
  const host = escapeHtml(new URL(location).host)
  const { heading, text, go } = leaving[language]
  const shown = title === '' ? '' : `<p class="title">${escapeHtml(title)}</p>`
  return pageIn(
    language,
    title === '' ? `${text} ${host}` : escapeHtml(title),
    `<h1>${heading}</h1>${shown}<p>${text} <strong>${breakable(host)}</strong></p>
<a href="${escapeHtml(location)}" rel="noreferrer noopener nofollow">${go}</a>`,
  )
}
