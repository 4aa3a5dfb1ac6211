// The Markdown form of a documentation page, for programs that read text: made from the same HTML, which has few kinds of elements.
import type { Html } from './html.ts'

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

function plain(text: string): string {
  return text
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity]!)
}

/** Text inside a paragraph: code and links stay, everything else is plain. */
function inline(text: string): string {
  const marked = text
    .replaceAll(/<code>([^]*?)<\/code>/g, (_all, code: string) => `\`${plain(code)}\``)
    .replaceAll(/<a [^>]*?href="([^"]*)"[^>]*>([^]*?)<\/a>/g, (_all, href: string, label: string) =>
      href.startsWith('#') ? plain(label) : `[${plain(label)}](${href})`,
    )
  return plain(marked).replaceAll(/\s+/g, ' ').trim()
}

function tableRows(table: string): string {
  const rows = [...table.matchAll(/<tr>([^]*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>([^]*?)<\/t[hd]>/g)].map(([, cell]) =>
      inline(cell!).replaceAll('|', String.raw`\|`),
    ),
  )
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const [heading = [], ...others] = rows
  return [line(heading), line(heading.map(() => '---')), ...others.map(line)].join('\n')
}

const blocks =
  /<h([1-4])[^>]*>([^]*?)<\/h\1>|<pre[^>]*? data-language="(\w*)"[^>]*>([^]*?)<\/pre>|<table>([^]*?)<\/table>|<li>([^]*?)<\/li>|<(?:p|summary)[^>]*>([^]*?)<\/(?:p|summary)>/g

export function toMarkdown({ html }: Html): string {
  const parts = [...html.matchAll(blocks)].map(
    ([, level, heading, language, code, table, item, paragraph]) => {
      if (heading !== undefined) return `${'#'.repeat(Number(level))} ${inline(heading)}`
      if (code !== undefined) return `\`\`\`${language}\n${plain(code)}\n\`\`\``
      if (table !== undefined) return tableRows(table)
      return item === undefined ? inline(paragraph ?? '') : `- ${inline(item)}`
    },
  )
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}
