// The public home page, in the language of the visitor.
import type { FastifyReply } from 'fastify'
import { domainCheck } from '../../contract/domain-check.ts'
import { identity } from '../../contract/identity.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import type { Language } from '../../contract/text.ts'
import { fullPage, fullPagePolicy } from '../http/full-page.ts'

const style = `:root { color-scheme: light dark }
body { font: 16px/1.7 system-ui, "PingFang SC", "Microsoft YaHei", sans-serif; max-width: 40rem; margin: 12vh auto; padding: 0 1.5rem; color: light-dark(#1f2328, #e6edf3); background: light-dark(#fff, #0d1117) }
h1 { font-size: 1.8rem; margin: 0 0 .5rem; display: flex; gap: .75rem; align-items: center }
p { margin: .5rem 0; color: light-dark(#57606a, #9198a1) }
ul { padding: 0; list-style: none }
li { padding: .3rem 0; border-bottom: 1px solid light-dark(#d8dee4, #30363d) }
code { font-size: .9em; white-space: nowrap }
a { color: light-dark(#0550ae, #79b8ff) }`

const texts = {
  zh: {
    title: 'Tollgate 开放平台',
    about: '短链接、模板短信、身份核验与域名拦截检测，共用一个 API 密钥，额度统一管理。',
    names: ['短链接', '短信', '身份核验', '域名检测'],
    links:
      '<a href="/docs/">接口文档</a> · <a href="/docs/en/" lang="en">English reference</a> · <a href="/console/">控制台</a> · <a href="/status">运行状态</a>',
  },
  en: {
    title: 'Tollgate',
    about:
      'Short links, template SMS, identity verification and domain block checks with one API key and one credit ledger.',
    names: ['Short links', 'SMS', 'Identity verification', 'Domain check'],
    links:
      '<a href="/docs/en/">API reference</a> · <a href="/docs/" lang="zh-CN">中文文档</a> · <a href="/console/">Console</a> · <a href="/status">Status</a>',
  },
} as const

const endpoints = [shortlink, sms, identity, domainCheck].map(
  ({ methods, path }) => `${methods.join(', ')} ${path}`,
)

function page(language: Language): string {
  const { title, about, names, links } = texts[language]
  const body = `<main>
<h1><img src="/favicon.svg" alt="" width="40" height="40">${title}</h1>
<p>${about}</p>
<ul>
${names.map((name, index) => `<li>${name} <code>${endpoints[index]}</code></li>`).join('\n')}
</ul>
<p>${links}</p>
</main>`
  return fullPage({ language, title, style, body })
}

export function homePage(reply: FastifyReply, language: Language): FastifyReply {
  return reply
    .header('content-security-policy', fullPagePolicy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('vary', 'accept-language')
    .type('text/html; charset=utf-8')
    .send(page(language))
}
