// Developer commands: help and usage errors. Operator commands: command-help.test.ts.
import { commandSuite } from './command-help-suite.ts'

commandSuite([
  {
    name: 'bench',
    args: ['bench/run.ts'],
    invalid: [['--wrong'], ['nonsense'], ['charge', 'more'], ['--workers', 'x']],
  },
  {
    name: 'faults',
    args: ['test/faults/run.ts'],
    invalid: [
      ['--wrong'],
      ['--only', 'nonsense'],
      ['--engine', 'mysql'],
      ['--ha', '--engine', 'sqlite'],
      ['--ha', '--only', 'kill'],
    ],
  },
  { name: 'fuzz', args: ['test/fuzz/run.ts'], invalid: [['--wrong'], ['--cases', 'x']] },
])
