// What every command of package.json promises: it explains itself, and prints one clear line when it is called wrongly.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runNode } from './support/service.ts'

export interface CommandLine {
  readonly name: string
  /** What follows start.js. */
  readonly words: readonly string[]
  readonly wrongly: readonly (readonly string[])[]
}

export function commandSuite(commands: readonly CommandLine[]): void {
  void describe('commands', () => {
    const nowhere = { DATA_DIR: '/nonexistent/tollgate', DATABASE_URL: '' }
    for (const { name, words, wrongly } of commands) {
      test(`${name} --help`, async () => {
        const { code, stdout, stderr } = await runNode(['start.js', ...words, '--help'], nowhere)
        assert.deepEqual([code, stderr], [0, ''])
        assert.match(stdout, /^npm (run --silent|start)/)
        assert.ok(stdout.includes(name === 'start' ? 'npm start' : `npm run --silent ${name}`))
        assert.match(stdout, /\p{Script=Han}/u)
        assert.ok(Math.max(...stdout.split('\n').map((line) => line.length)) <= 160)
      })

      test(`${name}, called wrongly`, async () => {
        for (const wrong of wrongly) {
          const { code, stdout, stderr } = await runNode(['start.js', ...words, ...wrong], nowhere)
          const what = `${name} ${wrong.join(' ')}: ${stderr}`
          assert.deepEqual([code, stdout], [1, ''], what)
          assert.match(stderr, /^[^\n]{5,250}\n$/, what)
          assert.doesNotMatch(stderr, /\bat |node:internal/, what)
        }
      })
    }
  })
}
