// Runs test files like `node --test`, with the same options, but in an order in which no long file starts last.
// `--list` prints that order.
import { globSync, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { run } from 'node:test'
import { parseArgs } from 'node:util'
import report from './reporter.ts'
import { root } from './root.ts'

interface TestFile {
  /** Relative to the root of the repository. */
  readonly path: string
  readonly size: number
}

/** Small files whose tests take minutes. */
const longest =
  /faults\.heavy|every-page|bench\.heavy|docs-samples|payments|workers\.heavy|receivers|connection\.heavy|alerts\.heavy/

/** End-to-end tests start processes and browsers and take longest, so they are first; then the largest files. */
export function orderFiles(files: readonly TestFile[]): string[] {
  const rank = ({ path }: TestFile) => (longest.test(path) ? 0 : path.split(sep)[0] === 'test' ? 1 : 2)
  return files
    .toSorted((a, b) => rank(a) - rank(b) || b.size - a.size || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path)
}

async function runTests(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'test-concurrency': { type: 'string', default: '4' },
      'test-timeout': { type: 'string' },
      'test-global-setup': { type: 'string' },
      'test-name-pattern': { type: 'string', multiple: true },
      list: { type: 'boolean', default: false },
    },
  })
  const found = positionals.flatMap((pattern) => {
    // The programs of test/openapi-tools come with tests of their own.
    const files = globSync(pattern, { exclude: ['**/node_modules/**'] })
    if (files.length === 0) throw new Error(`no test file matches ${pattern}`)
    return files.map((file) => resolve(file))
  })
  const files = [...new Set(found)].map((file) => ({ path: relative(root, file), size: statSync(file).size }))
  const ordered = orderFiles(files)
  if (values.list) {
    process.stdout.write(`${ordered.join('\n')}\n`)
    return
  }
  const setup = values['test-global-setup']
  const events = run({
    files: ordered.map((path) => resolve(root, path)),
    concurrency: Number(values['test-concurrency']),
    ...(values['test-timeout'] === undefined ? {} : { timeout: Number(values['test-timeout']) }),
    ...(setup === undefined ? {} : { globalSetupPath: resolve(setup) }),
    testNamePatterns: values['test-name-pattern'] ?? [],
  })
  events.on('test:summary', ({ success }) => {
    if (!success) process.exitCode = 1
  })
  for await (const text of report(events)) process.stdout.write(text)
}

if (import.meta.main) await runTests()
