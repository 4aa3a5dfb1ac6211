// The reference as one page: the general sections, every endpoint, and the table of contents.
import { operationAnchor } from '../../contract/docs-address.ts'
import { documentedEndpoints } from '../../contract/reference/interface.ts'
import type { Language } from '../../contract/text.ts'
import { clientsSection } from './clients-section.ts'
import { closingSections, openingSections, type Section } from './general-sections.ts'
import { html, type Html } from './html.ts'
import type { DocsPage } from './layout.ts'
import type { DocsContext } from './operations.ts'
import { webhookSection } from './webhook-section.ts'
import { endpointSection } from './operation-section.ts'

/** After the endpoints. */
const laterSections: readonly Section[] = [webhookSection, clientsSection, ...closingSections]

export const referencePage: DocsPage = {
  path: '',
  title: { zh: 'Tollgate 接口文档', en: 'Tollgate API reference' },
  description: {
    zh: '短链接、模板短信、身份核验、域名拦截检测的接口文档',
    en: 'Reference of the short link, SMS, identity verification and domain check APIs',
  },
  contents,
  body: (context, language) => html`
    ${openingSections.map((section) => sectionHtml(section, context, language))}
    ${documentedEndpoints.map((one) => endpointSection(one, context, language))}
    ${laterSections.map((section) => sectionHtml(section, context, language))}
  `,
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
              html`<li><a href="#${operationAnchor(endpoint, name)}">${operation.text[language]}</a></li>`,
          )}
        </ul>
      </li>`,
  )
  return html`<nav id="contents" aria-label="${language === 'zh' ? '目录' : 'Contents'}">
    <ul>
      ${openingSections.map(item)}${endpoints}${laterSections.map(item)}
    </ul>
  </nav>`
}
