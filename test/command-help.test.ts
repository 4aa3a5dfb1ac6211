// Every command of package.json explains itself, and says one clear line when it is called wrongly.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runNode } from './support/service.ts'

const commands: Readonly<Record<string, readonly string[]>> = {
  start: [],
  admin: ['cli/admin.ts'],
  doctor: ['cli/doctor.ts'],
  bench: ['bench/run.ts'],
  faults: ['test/faults/run.ts'],
  fuzz: ['test/fuzz/run.ts'],
}

const wrongly: Readonly<Record<string, readonly (readonly string[])[]>> = {
  start: [['--wrong'], ['--workers', 'x']],
  admin: [['nonsense'], ['account', 'create'], ['account', 'list', '--wrong'], ['credits', 'grant', 'x']],
  doctor: [['--wrong'], ['extra']],
  bench: [['--wrong'], ['nonsense'], ['charge', 'more'], ['--workers', 'x']],
  faults: [
    ['--wrong'],
    ['--only', 'nonsense'],
    ['--engine', 'mysql'],
    ['--ha', '--engine', 'sqlite'],
    ['--ha', '--only', 'kill'],
  ],
  fuzz: [['--wrong'], ['--cases', 'x']],
}

describe('commands', () => {
  const nowhere = { DATA_DIR: '/nonexistent/tollgate', DATABASE_URL: '' }
  for (const [name, words] of Object.entries(commands)) {
    test(`${name} --help`, async () => {
      const { code, stdout, stderr } = await runNode(['start.js', ...words, '--help'], nowhere)
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(stdout, /^npm (run --silent|start)/)
      assert.ok(stdout.includes(name === 'start' ? 'npm start' : `npm run --silent ${name}`))
      assert.match(stdout, /\p{Script=Han}/u)
      assert.ok(Math.max(...stdout.split('\n').map((line) => line.length)) <= 160)
    })

    test(`${name}, called wrongly`, async () => {
      const answers = await Promise.all(
        wrongly[name]!.map((wrong) => runNode(['start.js', ...words, ...wrong], nowhere)),
      )
      for (const [index, { code, stdout, stderr }] of answers.entries()) {
        const what = `${name} ${wrongly[name]![index]!.join(' ')}: ${stderr}`
        assert.deepEqual([code, stdout], [1, ''], what)
        assert.match(stderr, /^[^\n]{5,250}\n$/, what)
        assert.doesNotMatch(stderr, /\bat |node:internal/, what)
      }
    })
  }
})
