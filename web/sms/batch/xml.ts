// Walks through XML once, from the start to the end. Knows no document types and no entities except the five of XML.
import { BadFile } from './file-problems.ts'

interface Visitor {
  /** `attributes` is the text between the name and the end of the tag. */
  readonly open?: (name: string, attributes: string) => void
  readonly text?: (text: string) => void
  readonly close?: (name: string) => void
}

/** Names come without their prefix: spreadsheets write `row` as well as `x:row`. */
export function walkXml(xml: string, { open, text, close }: Visitor): void {
  let at = 0
  while (at < xml.length) {
    const start = xml.indexOf('<', at)
    const end = start === -1 ? xml.length : start
    if (end > at) text?.(xml.slice(at, end))
    if (start === -1) return
    if (xml.startsWith('<![CDATA[', start)) {
      const stop = requireEnd(xml, ']]>', start)
      text?.(xml.slice(start + 9, stop).replaceAll('&', '&amp;'))
      at = stop + 3
    } else if (xml.startsWith('<!--', start)) at = requireEnd(xml, '-->', start) + 3
    else if (xml.startsWith('<!', start)) throw new BadFile('damaged')
    else {
      const stop = requireEnd(xml, '>', start)
      at = stop + 1
      if (xml[start + 1] === '?') continue
      if (xml[start + 1] === '/') close?.(localName(xml.slice(start + 2, stop).trim()))
      else {
        const isEmpty = xml[stop - 1] === '/'
        const tag = xml.slice(start + 1, isEmpty ? stop - 1 : stop)
        if (tag.includes('<')) throw new BadFile('damaged')
        const space = tag.search(/\s/)
        const name = localName(space === -1 ? tag : tag.slice(0, space))
        open?.(name, space === -1 ? '' : tag.slice(space))
        if (isEmpty) close?.(name)
      }
    }
  }
}

function requireEnd(xml: string, mark: string, from: number): number {
  const end = xml.indexOf(mark, from)
  if (end === -1) throw new BadFile('damaged')
  return end
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

const patterns = new Map<string, RegExp>()

/** The value of an attribute; undefined without one. */
export function attribute(attributes: string, name: string): string | undefined {
  let pattern = patterns.get(name)
  if (!pattern) {
    pattern = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`)
    patterns.set(name, pattern)
  }
  const match = pattern.exec(attributes)
  return match ? decodeXml(match[1] ?? match[2] ?? '') : undefined
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

export function decodeXml(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named[name as string] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
