// Collects the figures of all parts, prints them, and writes the report.
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import type { BenchMachine } from './machine.ts'
import type { Scale } from './scale.ts'

/** An expected limit of a figure, and whether this run met it. */
export interface Expectation {
  readonly text: string
  readonly met: boolean
}

export interface Figure {
  readonly name: string
  readonly engine?: string | undefined
  readonly workers?: number | undefined
  readonly perSecond?: number | undefined
  /** Milliseconds. */
  readonly p50?: number | undefined
  readonly p99?: number | undefined
  readonly p999?: number | undefined
  readonly ratio?: number | undefined
  /** The reference of the ratio. */
  readonly ratioTo?: string | undefined
  /** CPU time of the service per call, in microseconds. */
  readonly cpuMicros?: number | undefined
  /** A size or a duration, for figures that are not rates. */
  readonly value?: number | undefined
  readonly unit?: string | undefined
  readonly expected?: readonly Expectation[] | undefined
  readonly note?: string | undefined
  /** Why it was not measured. */
  readonly skipped?: string | undefined
}

export interface PartReport {
  readonly name: string
  readonly title: string
  readonly seconds: number
  readonly loadBefore: number
  readonly loadAfter: number
  readonly figures: readonly Figure[]
  /** The error that ended the part. */
  readonly failed?: string
}

export interface BenchReport {
  readonly date: string
  readonly command: string
  readonly quick: boolean
  readonly machine: BenchMachine
  readonly parts: readonly PartReport[]
}

/** The argument of a part. */
export interface Part {
  readonly scale: Scale
  row(figure: Figure): void
  /** Prints a line that is not part of the report. */
  print(line: string): void
}

export function atLeast(min: number, ratio: number, to: string): Expectation {
  return { text: `≥ ${min} × ${to}`, met: ratio >= min }
}

export function atMost(max: number, ratio: number, to: string): Expectation {
  return { text: `≤ ${max} × ${to}`, met: ratio <= max }
}

export async function runPart(
  name: string,
  title: string,
  scale: Scale,
  run: (part: Part) => Promise<void>,
): Promise<PartReport> {
  const figures: Figure[] = []
  const loadBefore = loadNow()
  const startedAt = performance.now()
  process.stdout.write(`\n${name}: ${title}\n`)
  let failed: string | undefined
  try {
    await run({
      scale,
      row(figure) {
        figures.push(figure)
        process.stdout.write(`${lineOf(figure)}\n`)
      },
      print: (line) => void process.stdout.write(`    ${line}\n`),
    })
  } catch (error) {
    failed = error instanceof Error ? error.message.slice(0, 500) : String(error)
    process.stdout.write(`${error instanceof Error ? (error.stack ?? failed) : failed}\n`)
  }
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  const report = { name, title, seconds, loadBefore, loadAfter: loadNow(), figures }
  return failed === undefined ? report : { ...report, failed }
}

function loadNow(): number {
  return Math.round(loadavg()[0]! * 100) / 100
}

function lineOf(figure: Figure): string {
  const details = [
    figure.engine,
    figure.workers === undefined ? undefined : `${figure.workers} worker${figure.workers === 1 ? '' : 's'}`,
  ]
  const name = [figure.name, ...details.filter((detail) => detail !== undefined)].join(', ')
  if (figure.skipped !== undefined) return `${name.padEnd(56)}skipped: ${figure.skipped}`
  const columns = [rateOf(figure).padStart(12)]
  if (figure.p50 !== undefined) columns.push(`p50 ${figure.p50.toFixed(2)} ms`)
  if (figure.p99 !== undefined) columns.push(`p99 ${figure.p99.toFixed(2)} ms`)
  if (figure.p999 !== undefined) columns.push(`p99.9 ${figure.p999.toFixed(2)} ms`)
  columns.push(...tailOf(figure))
  return `${name.padEnd(56)}${columns.join('   ')}`
}

function rateOf({ perSecond, value, unit }: Figure): string {
  if (perSecond !== undefined) return `${perSecond.toLocaleString('en-US')}/s`
  return value === undefined ? '' : `${shortNumber(value)} ${unit ?? ''}`.trim()
}

function tailOf(figure: Figure): string[] {
  const columns: string[] = []
  if (figure.ratio !== undefined) columns.push(`${figure.ratio.toFixed(2)} × ${figure.ratioTo ?? ''}`)
  if (figure.cpuMicros !== undefined) columns.push(`cpu ${figure.cpuMicros} µs a call`)
  for (const one of figure.expected ?? []) columns.push(`${one.text}: ${one.met ? 'met' : 'MISSED'}`)
  if (figure.note !== undefined) columns.push(figure.note)
  return columns
}

function shortNumber(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toFixed(2)))
}

/** Writes a JSON and a Markdown file; returns their name without extension. */
export function writeReport(directory: string, report: BenchReport): string {
  mkdirSync(directory, { recursive: true })
  const stamp = report.date.slice(0, 19).replaceAll(':', '').replace('T', '-')
  const name = `${stamp}${report.quick ? '-quick' : ''}`
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(report, undefined, 2)}\n`)
  writeFileSync(join(directory, `${name}.md`), markdownOf(report))
  return name
}

export function markdownOf(report: BenchReport): string {
  const { machine } = report
  const lines = [
    `# Benchmark, ${report.date.slice(0, 19).replace('T', ' ')} UTC`,
    '',
    `\`${report.command}\`. Figures are valid for this machine only; each ratio is to a reference measured in the same run.`,
    ...(report.quick
      ? ['', '**A quick run: it only checks that the parts work; its figures are meaningless.**']
      : []),
    '',
    '| | |',
    '|---|---|',
    ...Object.entries(machine).map(([name, value]) => `| ${name} | ${cell(String(value))} |`),
    '',
    ...expectationLines(report),
  ]
  for (const part of report.parts) lines.push(...partLines(part))
  return `${lines.join('\n')}\n`
}

/** All expectations, missed ones first. */
function expectationLines(report: BenchReport): string[] {
  const all = report.parts.flatMap((part) =>
    part.figures.flatMap((figure) =>
      (figure.expected ?? []).map((one) => ({ part: part.name, figure, ...one })),
    ),
  )
  if (all.length === 0) return []
  const rows = all
    .toSorted((a, b) => Number(a.met) - Number(b.met))
    .map(
      ({ part, figure, text, met }) =>
        `| ${part} | ${cell(labelOf(figure))} | ${cell(text)} | ${met ? 'met' : '**missed**'} |`,
    )
  return ['## Expected', '', '| part | what | expected | |', '|---|---|---|---|', ...rows, '']
}

function labelOf({ name, engine, workers }: Figure): string {
  return [name, engine, workers === undefined ? undefined : `${workers} worker${workers === 1 ? '' : 's'}`]
    .filter((part) => part !== undefined)
    .join(', ')
}

function partLines(part: PartReport): string[] {
  const lines = [
    `## ${part.name}`,
    '',
    `${part.title}. ${part.seconds} s, load average ${part.loadBefore} before and ${part.loadAfter} after.`,
    '',
  ]
  if (part.failed !== undefined) lines.push(`**Failed: ${part.failed.replaceAll('\n', ' ')}**`, '')
  if (part.figures.length === 0) return lines
  lines.push(
    '| what | engine | workers | figure | p50 ms | p99 ms | p99.9 ms | ratio | cpu µs a call | expected | |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...part.figures.map(rowOf),
    '',
  )
  return lines
}

function rowOf(figure: Figure): string {
  const cells = [
    figure.name,
    figure.engine ?? '',
    figure.workers ?? '',
    figure.skipped === undefined ? rateOf(figure) : 'skipped',
    figure.p50?.toFixed(2) ?? '',
    figure.p99?.toFixed(2) ?? '',
    figure.p999?.toFixed(2) ?? '',
    figure.ratio === undefined ? '' : `${figure.ratio.toFixed(2)} × ${figure.ratioTo ?? ''}`,
    figure.cpuMicros ?? '',
    (figure.expected ?? []).map(({ text, met }) => `${text}: ${met ? 'met' : '**missed**'}`).join('; '),
    figure.skipped ?? figure.note ?? '',
  ]
  return `| ${cells.map((one) => cell(String(one))).join(' | ')} |`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
