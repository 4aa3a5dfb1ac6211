// The commands of a developer, called for help and called wrongly. Those of an operator: command-help.test.ts.
import { commandSuite } from './command-help-suite.ts'

commandSuite([
  {
    name: 'bench',
    words: ['bench/run.ts'],
    wrongly: [['--wrong'], ['nonsense'], ['charge', 'more'], ['--workers', 'x']],
  },
  {
    name: 'faults',
    words: ['test/faults/run.ts'],
    wrongly: [
      ['--wrong'],
      ['--only', 'nonsense'],
      ['--engine', 'mysql'],
      ['--ha', '--engine', 'sqlite'],
      ['--ha', '--only', 'kill'],
    ],
  },
  { name: 'fuzz', words: ['test/fuzz/run.ts'], wrongly: [['--wrong'], ['--cases', 'x']] },
])
