// The reference as one page in one language.
import { documentedEndpoints } from '../../contract/reference/interface.ts'
import type { Language } from '../../contract/text.ts'
import { closingSections, openingSections, type Section } from './general-sections.ts'
import { html, type Html, rootOf } from './html.ts'
import type { DocsContext } from './operations.ts'
import { webhookSection } from './webhook-section.ts'
import { anchorOf, endpointSection } from './operation-section.ts'

export function referencePage(context: DocsContext, language: Language): string {
  const zh = language === 'zh'
  const title = zh ? 'Tollgate 接口文档' : 'Tollgate API reference'
  const { publicUrl } = context
  const root = rootOf(language)
  const other = zh
    ? html`<a href="en/" lang="en" hreflang="en">English</a>`
    : html`<a href="../" lang="zh-CN" hreflang="zh">中文</a>`
  const page = html`<!doctype html>
    <html lang="${zh ? 'zh-CN' : 'en'}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          name="description"
          content="${zh ? '短链接、模板短信、身份核验、域名拦截检测的接口文档' : 'Reference of the short link, SMS, identity verification and domain check APIs'}"
        />
        <title>${title}</title>
        <link rel="icon" type="image/svg+xml" href="${root}/favicon.svg" />
        <link rel="stylesheet" href="${root}/docs/style.css" />
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          <a href="${root}/console/">${zh ? '控制台' : 'Console'}</a
          ><a href="${root}/openapi.json?lang=${language}">OpenAPI</a
          ><a href="${root}/docs/postman.json">Postman</a>${other}
        </header>
        <main>
          ${contents(language)}
          <article>
            ${openingSections.map((section) => sectionHtml(section, context, language))}
            ${documentedEndpoints.map((one) => endpointSection(one, context, language))}
            ${[webhookSection, ...closingSections].map((section) => sectionHtml(section, context, language))}
          </article>
        </main>
        <a class="up" href="#contents">${zh ? '目录' : 'Contents'}</a>
        <footer>Tollgate ${context.version} · <code>${publicUrl}</code></footer>
      </body>
    </html> `
  return page.html
}

function sectionHtml(section: Section, context: DocsContext, language: Language): Html {
  return html`<section>
    <h2 id="${section.id}">${section.title[language]}</h2>
    ${section.body(context, language)}
  </section>`
}

function contents(language: Language): Html {
  const item = ({ id, title }: Section) => html`<li><a href="#${id}">${title[language]}</a></li>`
  const endpoints = documentedEndpoints.map(
    ({ endpoint, title }) =>
      html`<li>
        <a href="#${endpoint.name}">${title[language]}</a>
        <ul>
          ${Object.entries(endpoint.operations).map(
            ([name, operation]) =>
              html`<li><a href="#${anchorOf(endpoint, name)}">${operation.text[language]}</a></li>`,
          )}
        </ul>
      </li>`,
  )
  return html`<nav id="contents" aria-label="${language === 'zh' ? '目录' : 'Contents'}">
    <ul>
      ${openingSections.map(item)}${endpoints}${[webhookSection, ...closingSections].map(item)}
    </ul>
  </nav>`
}
