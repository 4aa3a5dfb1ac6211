// The frame of every documentation page: title, header, style, script, footer.
import { docsAddress } from '../../contract/docs-address.ts'
import type { Language, Text } from '../../contract/text.ts'
import { html, type Html } from './html.ts'
import type { DocsContext } from './operations.ts'

export interface DocsPage {
  /** Without a language and a leading slash: `''` for the reference, `errors/1001`. */
  readonly path: string
  readonly title: Text
  readonly description: Text
  /** The table of contents; none on short pages. */
  readonly contents?: (language: Language) => Html
  readonly body: (context: DocsContext, language: Language) => Html
}

/** Relative, so that links work under every host name and path prefix. */
function upTo(address: string): string {
  return address
    .split('/')
    .slice(2)
    .map(() => '..')
    .join('/')
}

export function layout(page: DocsPage, context: DocsContext, language: Language): string {
  const zh = language === 'zh'
  const address = docsAddress(language, page.path)
  const root = upTo(address)
  const title = page.title[language]
  const markdown = page.path === '' ? 'index.md' : `${page.path.split('/').at(-1)}.md`
  const other = `${root}${docsAddress(zh ? 'en' : 'zh', page.path)}`
  return html`<!doctype html>
    <html lang="${zh ? 'zh-CN' : 'en'}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${page.description[language]}" />
        <title>${title}</title>
        <link rel="icon" type="image/svg+xml" href="${root}/favicon.svg" />
        <link rel="alternate" type="text/markdown" href="${markdown}" />
        <link rel="stylesheet" href="${root}/docs/style.css" />
        <script src="${root}/docs/docs.js" defer></script>
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          ${page.path === '' ? '' : html`<a href="${root}/docs/${zh ? '' : 'en/'}">${zh ? '接口文档' : 'API reference'}</a>`}
          <a href="${root}/console/">${zh ? '控制台' : 'Console'}</a
          ><a href="${root}/status">${zh ? '运行状态' : 'Status'}</a
          ><a href="${root}/openapi.json?lang=${language}">OpenAPI</a
          ><a href="${root}/docs/postman.json">Postman</a
          ><a href="${markdown}">Markdown</a
          ><a href="${other}" lang="${zh ? 'en' : 'zh-CN'}" hreflang="${zh ? 'en' : 'zh'}">${zh ? 'English' : '中文'}</a>
        </header>
        <main${page.contents ? '' : html` class="short"`}>
          ${page.contents?.(language) ?? ''}
          <article>${page.body(context, language)}</article>
        </main>
        <footer>
          Tollgate ${context.version} · <code>${context.publicUrl}</code> ${page.contents ? html`<a class="up" href="#contents">${zh ? '目录' : 'Contents'}</a>` : ''}
        </footer>
      </body>
    </html> `.html
}
