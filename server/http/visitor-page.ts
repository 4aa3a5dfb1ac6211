// Pages for people who are not signed in: the logo, one language, both themes, without script; and their headers.
import type { Language } from '../../contract/text.ts'
import { logoSvg } from './logo.ts'

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

const svg = logoSvg?.replace('<svg ', '<svg width="32" height="32" aria-hidden="true" ') ?? ''
export const logo = `<p class="brand">${svg}Tollgate</p>`

/** `formAction` is where a form of the page may lead. */
export function visitorPageHeaders(formAction = `'none'`) {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
  } as const
}

/** A page in one language, with the logo. */
export function pageIn(language: Language, title: string, content: string): string {
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${style}</style></head>
<body><main>${logo}${content}</main></body></html>
`
}

/** For an unknown address. */
export function missingPage(language: Language): string {
  return language === 'zh'
    ? pageIn(language, '页面不存在', '<h1>页面不存在</h1><p>请检查地址是否完整。</p><a href="/">返回首页</a>')
    : pageIn(
        language,
        'Page not found',
        '<h1>Page not found</h1><p>Check that the address is complete.</p><a href="/">Home</a>',
      )
}
