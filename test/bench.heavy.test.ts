// Runs all benchmarks quickly and checks that the report is complete and well formed, not the speed.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { BenchReport, Figure } from '../bench/report.ts'
import { runNode } from './support/service.ts'

const parts = [
  'charge',
  'redirect',
  'generate',
  'limits',
  'sms',
  'identity',
  'domain',
  'events',
  'start',
  'console',
  'import',
  'growth',
  'latency',
  'neighbours',
  'soak',
]

/** Parts that must have results for both engines. */
const partsOnBothEngines = parts.filter((name) => name !== 'domain' && name !== 'console')

describe('bench --quick', () => {
  let directory: string
  let report: BenchReport
  let markdown: string

  before(
    async () => {
      directory = await mkdtemp(join(tmpdir(), 'tollgate-bench-test-'))
      const { code, stdout, stderr } = await runNode(
        ['start.js', 'bench/run.ts', '--quick', '--out', directory],
        {},
      )
      assert.equal(code, 0, `${stdout}\n${stderr}`)
      const files = (await readdir(directory)).toSorted()
      assert.equal(files.length, 2)
      assert.match(files[0]!, /^\d{4}-\d\d-\d\d-\d{6}-quick\.json$/)
      assert.equal(files[1], files[0]!.replace(/json$/, 'md'))
      report = JSON.parse(await readFile(join(directory, files[0]!), 'utf8')) as BenchReport
      markdown = await readFile(join(directory, files[1]!), 'utf8')
    },
    { timeout: 1_740_000 },
  )
  after(() => rm(directory, { recursive: true, force: true }))

  test('describes the machine', () => {
    assert.ok(report.quick)
    assert.equal(report.command, 'npm run bench -- --quick')
    for (const [name, value] of Object.entries(report.machine)) assert.notEqual(value, '', name)
    assert.equal(report.machine.node, process.version)
    assert.match(report.machine.postgres, /^\d+\.\d+/)
    assert.match(report.machine.sqlite, /^3\./)
  })

  test('has figures for every part and its engines', () => {
    assert.deepEqual(
      report.parts.map(({ name }) => name),
      parts,
    )
    for (const part of report.parts) {
      assert.ok(part.figures.length > 0, part.name)
      assert.ok(part.loadBefore >= 0 && part.loadAfter >= 0 && part.seconds > 0)
      const engines = new Set(part.figures.map(({ engine }) => engine))
      if (partsOnBothEngines.includes(part.name))
        assert.ok(engines.has('SQLite') && engines.has('PostgreSQL'), part.name)
      for (const figure of part.figures) assertValidFigure(figure)
    }
  })

  test('compares each target with its figure', () => {
    const targets = report.parts.flatMap(({ name, figures }) =>
      figures.flatMap(({ expected }) => (expected ?? []).map(({ text }) => `${name} ${text}`)),
    )
    for (const target of [
      'redirect ≥ 0.9 × bare node:http',
      'redirect ≤ 2 × its p99',
      'generate ≥ 0.38 × bare handler',
      'sms ≥ 0.2 × bare handler',
      'sms ≤ 3 × bare handler',
      'sms ≥ 5000 per second',
      'redirect ≥ 0.7 × bare node:http',
      'generate ≥ 8 × generate',
      'charge ≥ 5 × single statements',
      'domain ≤ 1.2 × ideal',
      'events ≥ 1000 per second',
      'start ≤ 140 MB',
      'console < 190 kB gzip',
      'import ≤ 60 s',
      'growth ≤ 1.2 × its p50 with few links',
      'latency p99.9 ≤ 30 ms',
      'neighbours ≤ 2 × harmless p50',
      'neighbours ≤ 2 × harmless p99',
    ]) {
      assert.ok(targets.includes(target), target)
    }
  })

  test('contains the same parts and figures as Markdown', () => {
    for (const name of parts) assert.ok(markdown.includes(`\n## ${name}\n`), name)
    const rows = markdown.split('\n').filter((line) => line.startsWith('|'))
    const figures = report.parts.flatMap((part) => part.figures)
    assert.equal(
      rows.filter((row) => row.split(/(?<!\\)\|/).length === 13).length,
      figures.length + 2 * parts.length,
    )
    assert.doesNotMatch(markdown, /undefined|NaN|Infinity|\/tmp\//)
  })
})

function assertValidFigure(figure: Figure): void {
  const details = JSON.stringify(figure)
  assert.ok(figure.name.length > 0, details)
  const numbers = [
    figure.perSecond,
    figure.p50,
    figure.p99,
    figure.p999,
    figure.ratio,
    figure.value,
    figure.cpuMicros,
  ]
  const known = numbers.filter((value) => value !== undefined)
  assert.ok(known.length > 0 || figure.skipped !== undefined, details)
  for (const value of known)
    assert.ok(typeof value === 'number' && Number.isFinite(value) && value >= 0, details)
  assert.equal(figure.ratio === undefined, figure.ratioTo === undefined, details)
}
