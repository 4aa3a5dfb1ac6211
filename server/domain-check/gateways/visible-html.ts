// Removes scripts, styles and comments from a page, in linear time even for hostile pages.

const opening = /<(script|style)\b|<!--/gi
const closings = { script: /<\/script\b/gi, style: /<\/style\b/gi }

/** An unclosed element extends to the end of the page. */
export function visibleHtml(html: string): string {
  let visible = ''
  let position = 0
  for (;;) {
    opening.lastIndex = position
    const opened = opening.exec(html)
    if (opened === null) return visible + html.slice(position)
    visible += html.slice(position, opened.index)
    const end = positionAfterClosing(html, opened[1]?.toLowerCase(), opening.lastIndex)
    if (end === -1) return visible
    position = end
  }
}

/** The position after the closing tag, or -1. */
function positionAfterClosing(html: string, element: string | undefined, from: number): number {
  if (element !== 'script' && element !== 'style') return positionAfter(html, '-->', from)
  const closing = closings[element]
  closing.lastIndex = from
  return closing.exec(html) === null ? -1 : positionAfter(html, '>', closing.lastIndex)
}

function positionAfter(html: string, text: string, from: number): number {
  const found = html.indexOf(text, from)
  return found === -1 ? -1 : found + text.length
}
