// Writes the table of settings in docs/operations*.md from server/config.ts: `npm run docs:settings`.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Language } from '../contract/text.ts'
import { settings } from '../server/config.ts'
import type { Setting } from '../server/setting-parsers.ts'

const begin = '<!-- settings: npm run docs:settings -->'
const end = '<!-- end of settings -->'

export const operationsPages: Readonly<Record<Language, URL>> = {
  zh: new URL('../docs/operations.md', import.meta.url),
  en: new URL('../docs/operations.en.md', import.meta.url),
}

const headings: Readonly<Record<Language, string>> = {
  zh: '| 名称 | 默认 | 含义 |',
  en: '| name | default | meaning |',
}

const secretNotes: Readonly<Record<Language, string>> = { zh: '（机密）', en: ' (secret)' }

function settingsTable(language: Language): string {
  const rows = Object.entries<Setting<unknown>>(settings).map(([name, { fallback, text, secret }]) => {
    const meaning = `${text[language]}${secret ? secretNotes[language] : ''}`
    return `| \`${name}\` | ${formatCell(fallback)} | ${meaning.replaceAll('|', '\\|')} |`
  })
  return [headings[language], '|---|---|---|', ...rows].join('\n')
}

/** The default value as a table cell. */
function formatCell(fallback: unknown): string {
  const text = formatValue(fallback)
  return text === '' ? '–' : `\`${text.replaceAll('|', '\\|')}\``
}

/** The value as an environment variable. */
function formatValue(fallback: unknown): string {
  if (fallback === undefined) return ''
  if (Array.isArray(fallback)) return fallback.map(String).join(',')
  if (typeof fallback !== 'object' || fallback === null) return JSON.stringify(fallback).replaceAll('"', '')
  const entries = Object.entries(fallback)
  if ('perSecond' in fallback) return entries.map(([, value]) => String(value)).join(',')
  return entries.map(([name, value]) => `${name}=${String(value)}`).join(',')
}

/** Returns the page with the current table. */
export function withSettings(page: string, language: Language): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined)
    throw new Error(`the page has no markers for the settings table: ${begin} … ${end}`)
  return `${before}${begin}\n${settingsTable(language)}\n${end}${after}`
}

if (process.argv.includes('--write')) {
  for (const [language, file] of Object.entries(operationsPages)) {
    writeFileSync(file, withSettings(readFileSync(file, 'utf8'), language as Language))
  }
}
