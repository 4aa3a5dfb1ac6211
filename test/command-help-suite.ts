// Checks for every command of package.json: it prints help, and one line for a usage error.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runNode } from './support/service.ts'

export interface CommandLine {
  readonly name: string
  /** The arguments after start.js. */
  readonly args: readonly string[]
  readonly invalid: readonly (readonly string[])[]
}

export function commandSuite(commands: readonly CommandLine[]): void {
  void describe('commands', () => {
    const environment = { DATA_DIR: '/nonexistent/tollgate', DATABASE_URL: '' }
    for (const { name, args, invalid } of commands) {
      test(`${name} --help prints the usage`, async () => {
        const { code, stdout, stderr } = await runNode(['start.js', ...args, '--help'], environment)
        assert.deepEqual([code, stderr], [0, ''])
        assert.match(stdout, /^npm (run --silent|start)/)
        assert.ok(stdout.includes(name === 'start' ? 'npm start' : `npm run --silent ${name}`))
        assert.match(stdout, /\p{Script=Han}/u)
        assert.ok(Math.max(...stdout.split('\n').map((line) => line.length)) <= 160)
      })

      test(`${name} prints one line for a usage error`, async () => {
        for (const invalidArgs of invalid) {
          const { code, stdout, stderr } = await runNode(['start.js', ...args, ...invalidArgs], environment)
          const details = `${name} ${invalidArgs.join(' ')}: ${stderr}`
          assert.deepEqual([code, stdout], [1, ''], details)
          assert.match(stderr, /^[^\n]{5,250}\n$/, details)
          assert.doesNotMatch(stderr, /\bat |node:internal/, details)
        }
      })
    }
  })
}
