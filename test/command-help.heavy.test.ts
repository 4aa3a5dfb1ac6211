// Every command: help and usage errors.
import { commandSuite } from './command-help-suite.ts'

commandSuite([
  { name: 'start', args: [], invalid: [['--wrong'], ['--workers', 'x']] },
  {
    name: 'admin',
    args: ['cli/admin.ts'],
    invalid: [['nonsense'], ['account', 'create'], ['account', 'list', '--wrong'], ['credits', 'grant', 'x']],
  },
  { name: 'doctor', args: ['cli/doctor.ts'], invalid: [['--wrong'], ['extra']] },
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
