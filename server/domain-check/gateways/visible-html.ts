// A page without its scripts, styles and comments, in linear time: pages come from others and may be made to be slow.

const opening = /<(script|style)\b|<!--/gi
const closings = { script: /<\/script\b/gi, style: /<\/style\b/gi }

/** What is never closed lasts to the end of the page. */
export function visibleHtml(html: string): string {
  let visible = ''
  let position = 0
  for (;;) {
    opening.lastIndex = position
    const opened = opening.exec(html)
    if (opened === null) return visible + html.slice(position)
    visible += html.slice(position, opened.index)
    const end = endOf(html, opened[1]?.toLowerCase(), opening.lastIndex)
    if (end === -1) return visible
    position = end
  }
}

/** Where the page goes on after what was opened before `from`, or -1. */
function endOf(html: string, element: string | undefined, from: number): number {
  if (element !== 'script' && element !== 'style') return after(html, '-->', from)
  const closing = closings[element]
  closing.lastIndex = from
  return closing.exec(html) === null ? -1 : after(html, '>', closing.lastIndex)
}

function after(html: string, text: string, from: number): number {
  const found = html.indexOf(text, from)
  return found === -1 ? -1 : found + text.length
}
