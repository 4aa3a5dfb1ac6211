// The operator's command line: `npm run --silent admin -- …`. Works beside a running service, with the same settings.
import { readEnvironment } from '../server/config.ts'
import { restrictNewFiles } from '../server/runtime/private-files.ts'
import { runAdmin } from './run-admin.ts'

restrictNewFiles()
const { code, stdout, stderr } = await runAdmin(process.argv.slice(2), readEnvironment)
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = code ?? 1
