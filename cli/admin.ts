// The operator's command line: `npm run --silent admin -- …`. Works beside a running service, with the same settings.
import { readEnvironment } from '../server/config.ts'
import { restrictNewFiles } from '../server/runtime/private-files.ts'
import { print } from './print.ts'
import { runAdmin } from './run-admin.ts'

restrictNewFiles()
print(await runAdmin(process.argv.slice(2), readEnvironment))
