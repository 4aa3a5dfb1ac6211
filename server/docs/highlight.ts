// Colours the strings, numbers and comments of code samples, without a script in the browser.
import { html, type Html } from './html.ts'

/** Comments at the start of a line or after a space; strings on one line; numbers and literals on their own. */
const tokens =
  /(?<comment>(?:^|(?<=\s))(?:\/\/|#)[^\n]*)|(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<number>\b\d+(?:\.\d+)?\b)|(?<literal>\b(?:true|false|null|None|nil)\b)/gm

function highlight(code: string): Html {
  const parts: Html[] = []
  let end = 0
  for (const match of code.matchAll(tokens)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0]
    parts.push(html`${code.slice(end, match.index)}<span class="t-${kind ?? ''}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return html`${parts}${code.slice(end)}`
}

/** Names of languages as Markdown has them. */
const markdownNames: Readonly<Record<string, string>> = { curl: 'sh', node: 'js' }

/** A block of code; focusable, because it may scroll. The language is for the Markdown form of the page. */
export function codeBlock(code: string, language = ''): Html {
  return html`<pre
    tabindex="0"
    data-language="${markdownNames[language] ?? language}"
  ><code>${highlight(code)}</code></pre>`
}
