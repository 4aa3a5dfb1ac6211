// Tests of the test runner: hanging files are killed, failures and skips are reported, the exit code is correct.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { root } from './root.ts'
import { runNode } from './service.ts'

async function runFile(source: string): Promise<{ readonly code: number | null; readonly lines: string[] }> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-runner-'))
  try {
    const file = join(directory, 'sample.test.mjs')
    await writeFile(file, `import { before, describe, test } from 'node:test'\n${source}`)
    const runner = ['--import', './test/support/watchdog.ts', 'test/support/run-tests.ts']
    const { code, stdout } = await runNode([...runner, '--test-timeout=1000', file], {
      WATCHDOG_EXTRA_MS: '1500',
    })
    return { code, lines: stdout.trimEnd().split('\n') }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const hasLine = (lines: readonly string[], pattern: RegExp) =>
  assert.ok(
    lines.some((line) => pattern.test(line)),
    `${pattern} in:\n${lines.join('\n')}`,
  )

test('counts passed tests and groups skips by reason', async () => {
  const { code, lines } = await runFile(`
    test('one', () => {})
    describe('suite', () => {
      test('two', () => {})
      test('three', { skip: 'needs a network' }, () => {})
      test('four', (t) => t.skip('needs a network'))
    })`)
  assert.equal(code, 0)
  hasLine(lines, /^\[1\/1\] .*sample\.test\.mjs: 2 passed, 2 skipped$/)
  hasLine(lines, /^ {2}2 x needs a network$/)
  assert.equal(lines.at(-1), '2 passed, 0 failed, 2 skipped')
})

test('prints the complete failure and exits with an error', async () => {
  const { code, lines } = await runFile(`
    import assert from 'node:assert/strict'
    describe('suite', () => test('wrong', () => assert.equal(1, 2)))`)
  assert.equal(code, 1)
  hasLine(lines, /^FAILED .*sample\.test\.mjs > suite > wrong$/)
  hasLine(lines, /Expected values to be strictly equal/)
  assert.equal(lines.at(-1), '0 passed, 1 failed, 0 skipped')
})

test('counts a failed hook and the tests that did not run because of it', async () => {
  const { code, lines } = await runFile(`
    describe('suite', () => { before(() => { throw new Error('setup failed') }); test('after it', () => {}) })`)
  assert.equal(code, 1)
  hasLine(lines, /setup failed/)
  assert.equal(lines.at(-1), '0 passed, 2 failed, 0 skipped')
})

for (const [what, source, last] of [
  ['a test that never ends', `test('waits', () => new Promise(() => { setInterval(() => {}, 1000) }))`, 2],
  ['an open handle after the tests', `test('leaves', () => { setInterval(() => {}, 1000) })`, 1],
  ['an endless loop', `test('loops', () => { for (;;); })`, 1],
] as const) {
  test(`kills and reports a file with ${what}`, async () => {
    const { code, lines } = await runFile(source)
    assert.equal(code, 1)
    hasLine(lines, /^FAILED .*sample\.test\.mjs/)
    hasLine(lines, /was killed because it was still running after 2\.5 s$/)
    assert.match(lines.at(-1)!, new RegExp(`^\\d passed, ${last} failed, 0 skipped$`))
  })
}

test(
  '.ci/run fails when a file fails twice and when the heavy files cannot be listed',
  { skip: process.platform === 'win32' && 'needs bash' },
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-ci-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    /** Runs it with an npm that only has these cases. */
    const runWith = async (cases: string) => {
      const npm = join(directory, 'npm')
      await writeFile(npm, `#!/bin/sh\ncase "$*" in\n${cases}\nesac\n`)
      await chmod(npm, 0o700)
      const env = { ...process.env, PATH: `${directory}${delimiter}${process.env['PATH']}` }
      const { status, stdout } = spawnSync('bash', ['.ci/run'], { cwd: root, env, encoding: 'utf8' })
      return { status, stdout }
    }
    const list = '*--list*) echo test/a.heavy.test.ts;;'
    const fails = "*--test-concurrency*) echo '  test/a.heavy.test.ts > a'; exit 1;;"
    assert.equal((await runWith(list)).status, 0)
    const failed = await runWith(`${list}\n${fails}`)
    assert.match(failed.stdout, /^Running again, alone: test\/a\.heavy\.test\.ts$/m)
    assert.equal(failed.status, 1)
    for (const suite of ['alone', 'together'])
      assert.equal((await runWith(`*test:heavy:${suite}*) exit 1;;\n${list}`)).status, 1, suite)
    // Of 30 files, the first ones run beside the others. Each of them is run, and counts.
    const many = `*alone*--list*) echo test/alone.heavy.test.ts;;
      *--list*) for n in $(seq 10 39); do echo test/f$n.heavy.test.ts; done;;`
    const passed = await runWith(`${many}\n*--test-concurrency*) echo "ran $*";;`)
    assert.equal(new Set(passed.stdout.match(/test\/f\d\d/g)).size, 30)
    assert.equal(passed.status, 0)
    for (const file of ['alone', 'f10', 'f39']) {
      const result = await runWith(`${many}\n*${file}*) echo '  test/${file}.heavy.test.ts > a'; exit 1;;`)
      assert.equal(result.status, 1, file)
      assert.match(result.stdout, new RegExp(`^Running again, alone: test/${file}\\.heavy`, 'm'))
    }
  },
)
