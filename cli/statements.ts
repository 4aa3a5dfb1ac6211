// The commands `statement`.
import { createPublicKey } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { requireAccount } from '../server/accounts/accounts.ts'
import { findFileProblem, formatFile } from '../server/statements/file.ts'
import { deriveStatementKey, describePublicKey } from '../server/statements/key.ts'
import { createStatements } from '../server/statements/statements.ts'
import { type Command, textFlag, UsageError } from './command.ts'

/** No statement is larger. */
const maxFileBytes = 1_000_000

async function read(file: string): Promise<Buffer> {
  const bytes = await readFile(file).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new UsageError(`无法读取 ${file} / cannot read the file (${code})`)
  })
  if (bytes.length > maxFileBytes) throw new UsageError(`${file} 过大 / the file is too large`)
  return bytes
}

async function keyFrom(file: string) {
  try {
    return describePublicKey(createPublicKey(await read(file)))
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} 不是公钥 / is not a public key`)
  }
}

export const statementCommands: readonly Command[] = [
  {
    name: 'statement make',
    usage: 'NAME YYYY-MM --out FILE',
    text: {
      zh: '写出账户某月的对账单（CSV）；当月尚未出账',
      en: 'write the monthly statement of an account (CSV); the current month is provisional',
    },
    minWords: 2,
    maxWords: 2,
    flags: { out: { type: 'string' } },
    async run({ installation, words, flags }) {
      const out = textFlag(flags, 'out')
      if (out === undefined || out === '') throw new UsageError('必须用 --out 指定文件 / --out is required')
      const account = await requireAccount(installation.db, words[0]!)
      const statements = createStatements(installation)
      const made = await statements.make(account, words[1]!)
      await writeFile(out, formatFile(made, statements.key.id)).catch((error: unknown) => {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
        throw new UsageError(`无法写入 ${out} / cannot write the file (${code})`)
      })
      const state = made.isFinal ? 'final' : 'provisional'
      const { username } = account
      return {
        json: {
          account: username,
          month: made.month,
          state,
          digest: made.digest,
          file: out,
          rows: made.rows,
        },
        text: `${username} ${made.month} ${state}: ${out}`,
      }
    },
  },
  {
    name: 'statement verify',
    usage: 'FILE [--key PEM]',
    text: {
      zh: '离线验证对账单；--key 为公钥文件，默认用本机的密钥',
      en: "check a statement offline; --key names a public key file, default: this installation's key",
    },
    minWords: 1,
    maxWords: 1,
    flags: { key: { type: 'string' } },
    async run({ installation: { secretKey }, words, flags }) {
      const file = textFlag(flags, 'key')
      const key = file === undefined ? deriveStatementKey(secretKey) : await keyFrom(file)
      const problem = findFileProblem(await read(words[0]!), key)
      return {
        json: { file: words[0]!, valid: problem === undefined, ...(problem && { problem: problem.en }) },
        text: problem ? '' : `${words[0]!}: 有效 / valid`,
        failed: problem !== undefined,
        ...(problem && { problem: `${words[0]!}: ${problem.zh} / ${problem.en}` }),
      }
    },
  },
]
