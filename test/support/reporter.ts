// The test reporter: one line per file, each failure with its details, and the totals at the end.
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { root } from './root.ts'

/** Maximum time without output while tests run. */
const quietMs = 20_000
/** Maximum characters of a file's output that are stored and printed when it fails. */
const outputLimit = 20_000

interface FileRun {
  readonly name: string
  startedAt: number
  passed: number
  failed: number
  skipped: number
  output: string
  /** The running tests and suites, outermost first: the index is their nesting. */
  running: (string | undefined)[]
}

interface Run {
  readonly files: Map<string, FileRun>
  readonly active: Set<FileRun>
  readonly failures: string[]
  readonly skips: Map<string, number>
  readonly startedAt: number
  ended: number
  passed: number
  failed: number
  skipped: number
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const run: Run = {
    files: new Map(),
    active: new Set(),
    failures: [],
    skips: new Map(),
    startedAt: performance.now(),
    ended: 0,
    passed: 0,
    failed: 0,
    skipped: 0,
  }
  const events = source[Symbol.asyncIterator]()
  let next = events.next()
  for (;;) {
    const event = await withQuietTimeout(next)
    if (event === 'quiet') {
      yield formatProgress(run)
      continue
    }
    if (event.done === true) break
    next = events.next()
    yield* lines(run, event.value)
  }
  yield* summary(run)
}

async function withQuietTimeout<T>(promise: Promise<T>): Promise<T | 'quiet'> {
  let timer: NodeJS.Timeout | undefined
  const quiet = new Promise<'quiet'>((resolve) => {
    timer = setTimeout(() => resolve('quiet'), quietMs)
  })
  try {
    return await Promise.race([promise, quiet])
  } finally {
    clearTimeout(timer)
  }
}

// test:complete is emitted as soon as a test ends; test:pass and test:fail are emitted in the order of declaration.
function* lines(run: Run, event: TestEvent): Generator<string> {
  switch (event.type) {
    case 'test:enqueue':
      if (isFile(event.data)) run.files.set(event.data.file, newFile(event.data.file))
      break
    case 'test:dequeue': {
      const file = fileOf(run, event.data)
      if (!file) break
      if (isFile(event.data)) {
        file.startedAt = performance.now()
        run.active.add(file)
      } else {
        file.running.length = event.data.nesting
        file.running[event.data.nesting] = event.data.name
      }
      break
    }
    case 'test:complete': {
      const file = fileOf(run, event.data)
      if (!file) break
      if (isFile(event.data)) yield* fileEnded(run, file, event.data)
      else yield* testEnded(run, file, event.data)
      break
    }
    case 'test:diagnostic':
      // A diagnostic without a file belongs to the summary of Node.js.
      if (event.data.file !== undefined) yield `  ${event.data.message}\n`
      break
    case 'test:stdout':
    case 'test:stderr': {
      const file = fileOf(run, event.data)
      if (file) file.output = (file.output + event.data.message).slice(-outputLimit)
      break
    }
    default:
  }
}

type CompletedTest = Extract<TestEvent, { type: 'test:complete' }>['data']

function* testEnded(run: Run, file: FileRun, data: CompletedTest): Generator<string> {
  const path = [file.name, ...file.running.slice(0, data.nesting), data.name].join(' > ')
  file.running.length = Math.min(file.running.length, data.nesting)
  const isSuite = data.details.type === 'suite'
  const isTodo = data.todo !== undefined && data.todo !== false
  if (data.skip !== undefined && data.skip !== false) {
    countSkip(run, file, typeof data.skip === 'string' && data.skip !== '' ? data.skip : 'no reason given')
  } else if (isTodo) {
    countSkip(run, file, 'todo')
  } else if (data.details.passed) {
    if (isSuite) return
    file.passed += 1
    run.passed += 1
  } else if (!isSuite || failureType(data) !== 'subtestsFailed') {
    file.failed += 1
    run.failed += 1
    run.failures.push(path)
    yield formatFailure(path, data)
  }
}

function* fileEnded(run: Run, file: FileRun, data: CompletedTest): Generator<string> {
  run.active.delete(file)
  run.ended += 1
  const { exitCode, signal } = (data.details.error ?? {}) as { exitCode?: number; signal?: string }
  // A file fails with its tests. Any other failure is reported with the test that was running.
  if (!data.details.passed && (file.failed === 0 || typeof signal === 'string')) {
    const during = file.running.filter((name) => name !== undefined)
    const path = [file.name, ...during].join(' > ')
    const reason = typeof signal === 'string' ? `killed by ${signal}` : `exit code ${exitCode ?? 'unknown'}`
    file.failed += 1
    run.failed += 1
    run.failures.push(`${path} (${reason})`)
    yield `\nFAILED ${path}\n  the file did not exit normally: ${reason}\n\n`
  }
  if (file.failed > 0 && file.output.trim() !== '') {
    yield `Output of ${file.name}:\n${indent(file.output.trimEnd())}\n\n`
  }
  const progress = `[${String(run.ended).padStart(String(run.files.size).length)}/${run.files.size}]`
  const counts = [
    `${file.passed} passed`,
    ...(file.failed > 0 ? [`${file.failed} FAILED`] : []),
    ...(file.skipped > 0 ? [`${file.skipped} skipped`] : []),
  ]
  yield `${progress} ${seconds(file.startedAt).padStart(7)}  ${file.name}: ${counts.join(', ')}\n`
}

function* summary(run: Run): Generator<string> {
  yield `\n${run.ended} of ${run.files.size} files in ${seconds(run.startedAt)}\n`
  if (run.skips.size > 0) {
    yield 'Skipped:\n'
    for (const [reason, count] of [...run.skips].toSorted((a, b) => b[1] - a[1])) {
      yield `  ${count} x ${reason}\n`
    }
  }
  if (run.failures.length > 0) yield `Failed:\n${run.failures.map((path) => `  ${path}\n`).join('')}`
  yield `${run.passed} passed, ${run.failed} failed, ${run.skipped} skipped\n`
}

function countSkip(run: Run, file: FileRun, reason: string): void {
  file.skipped += 1
  run.skipped += 1
  run.skips.set(reason, (run.skips.get(reason) ?? 0) + 1)
}

function formatFailure(path: string, data: CompletedTest): string {
  const error = data.details.error
  const cause = error?.cause ?? error
  const location = data.line === undefined ? '' : `  at ${shortName(data.file ?? '')}:${data.line}\n`
  const text = typeof cause === 'string' ? cause : inspect(cause, { depth: 10 })
  return `\nFAILED ${path}\n${location}${indent(text)}\n\n`
}

function failureType(data: CompletedTest): string | undefined {
  return (data.details.error as { failureType?: string } | undefined)?.failureType
}

function formatProgress(run: Run): string {
  const names = [...run.active].map((file) => {
    const test = file.running.findLast((name) => name !== undefined)
    return `${file.name}${test === undefined ? '' : ` > ${test}`} (${seconds(file.startedAt)})`
  })
  if (names.length === 0) return 'preparing the test run\n'
  return `${run.ended} of ${run.files.size} files done, running: ${names.join('; ')}\n`
}

/**
 * The file that was run. `file` is where `test` was called, which may be a helper; events about a file itself come from the
 * runner and have no `entryFile`.
 */
interface Origin {
  readonly file?: string | undefined
  readonly entryFile?: string | undefined
}

function isFile(data: Origin): data is { readonly file: string } {
  return data.entryFile === undefined && data.file !== undefined
}

function fileOf(run: Run, data: Origin): FileRun | undefined {
  return run.files.get(data.entryFile ?? data.file ?? '')
}

function newFile(path: string): FileRun {
  return {
    name: shortName(path),
    startedAt: performance.now(),
    passed: 0,
    failed: 0,
    skipped: 0,
    output: '',
    running: [],
  }
}

const shortName = (path: string) => relative(root, path)
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`
const indent = (text: string) => text.replaceAll(/^/gm, '  ')
