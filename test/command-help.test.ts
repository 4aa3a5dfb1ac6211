// The commands of an operator, called for help and called wrongly. Those of a developer: command-help.heavy.test.ts.
import { commandSuite } from './command-help-suite.ts'

commandSuite([
  { name: 'start', words: [], wrongly: [['--wrong'], ['--workers', 'x']] },
  {
    name: 'admin',
    words: ['cli/admin.ts'],
    wrongly: [['nonsense'], ['account', 'create'], ['account', 'list', '--wrong'], ['credits', 'grant', 'x']],
  },
  { name: 'doctor', words: ['cli/doctor.ts'], wrongly: [['--wrong'], ['extra']] },
])
