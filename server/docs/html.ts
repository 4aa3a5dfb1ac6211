// HTML templates that escape every value except HTML.
import type { Language } from '../../contract/text.ts'
import { escapeHtml } from '../http/html.ts'

export interface Html {
  readonly html: string
}

type HtmlPart = string | number | Html | readonly HtmlPart[] | undefined

export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  let all = texts[0] ?? ''
  parts.forEach((part, index) => (all += render(part) + (texts[index + 1] ?? '')))
  return { html: all }
}

function render(part: HtmlPart): string {
  if (part === undefined) return ''
  if (typeof part === 'string') return escapeHtml(part)
  if (typeof part === 'number') return String(part)
  if ('html' in part) return part.html
  return part.map(render).join('')
}

/** Formats text in backticks as code. */
export function sentence(text: string): Html {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
  return html`${parts}`
}

/** Code that may wrap after a dot or an underscore. */
export function nameCode(name: string): Html {
  const parts = name.split(/(?<=[._])/)
  return html`<code>${parts.map((part, index) => (index === 0 ? part : html`<wbr />${part}`))}</code>`
}

export function table(heading: readonly string[], rows: readonly (readonly HtmlPart[])[]): Html {
  if (rows.length === 0) return html``
  return html`<div class="wide" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heading.map((cell) => html`<th scope="col">${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** Relative, so that links work under every host name and path prefix. */
export function rootOf(language: Language): string {
  return language === 'zh' ? '..' : '../..'
}
