// `npm run doctor`: checks a deployment and explains how to fix problems. It changes nothing.
import { readEnvironment } from '../server/config.ts'
import { restrictNewFiles } from '../server/runtime/private-files.ts'
import { readFlags } from './flags.ts'
import { print } from './print.ts'
import { runDoctor } from './run-doctor.ts'

const help = `npm run --silent doctor -- [--json] [--help]

检查本机的部署并说明如何修正，不做任何修改：设置、控制台文件、数据目录、文件权限、磁盘、密钥、数据库、迁移、时钟、Redis、网关连通、支付密钥与证书、对外地址与代理。
有必须修正的问题时以 1 退出。
Checks the deployment on this machine and explains how to fix problems; changes nothing: settings, console files, data
folder, file modes, disk, secret key, database, migrations, clock, Redis, gateways, payment keys and certificates, public URL and
proxy. Exits with 1 if a check fails.

  --json   {"ok","checks":[{"check","state":"ok|warn|fail","text":{"zh","en"},"fix"}]}`

restrictNewFiles()
const { values: flags } = readFlags(help, { json: { type: 'boolean' } })
print(await runDoctor(flags.json === true, readEnvironment))
