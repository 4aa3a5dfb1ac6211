// Operator commands: help and usage errors. Developer commands: command-help.heavy.test.ts.
import { commandSuite } from './command-help-suite.ts'

commandSuite([
  { name: 'start', args: [], invalid: [['--wrong'], ['--workers', 'x']] },
  {
    name: 'admin',
    args: ['cli/admin.ts'],
    invalid: [['nonsense'], ['account', 'create'], ['account', 'list', '--wrong'], ['credits', 'grant', 'x']],
  },
  { name: 'doctor', args: ['cli/doctor.ts'], invalid: [['--wrong'], ['extra']] },
])
