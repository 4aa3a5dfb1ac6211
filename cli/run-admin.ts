// Finds and runs an operator command and returns its output.
import { parseArgs } from 'node:util'
import { oneLine, printable } from '../contract/values.ts'
import { type Environment, ConfigError, readConfig } from '../server/config.ts'
import { migrations } from '../server/db/migrations/list.ts'
import { AppError } from '../server/http/errors.ts'
import { openInstallation, StartProblem } from '../server/runtime/installation.ts'
import { alertCommands } from './alerts.ts'
import { accountCommands } from './accounts.ts'
import { banCommands } from './bans.ts'
import { type Command, type Flags, UsageError } from './command.ts'
import { creditCommands } from './credits.ts'
import { watchCommands } from './domain-check.ts'
import { identityCommands } from './identity.ts'
import { oidcCommands } from './oidc.ts'
import { gatewayCommands } from './gateways.ts'
import { linkDomainCommands } from './link-domains.ts'
import { listCommands } from './lists.ts'
import { paymentCommands } from './payments.ts'
import { reconciliationCommands } from './reconciliation.ts'
import { templateCommands } from './sms.ts'
import { signatureCommands } from './signatures.ts'
import { domainCommands } from './shortlink.ts'
import { statementCommands } from './statements.ts'
import { storageCommands } from './storage.ts'
import { tokenCommands } from './tokens.ts'
import { webhookCommands } from './webhooks.ts'

const commands: readonly Command[] = [
  ...accountCommands,
  ...creditCommands,
  ...storageCommands,
  ...watchCommands,
  ...identityCommands,
  ...templateCommands,
  ...signatureCommands,
  ...gatewayCommands,
  ...domainCommands,
  ...linkDomainCommands,
  ...banCommands,
  ...webhookCommands,
  ...tokenCommands,
  ...alertCommands,
  ...paymentCommands,
  ...reconciliationCommands,
  ...listCommands,
  ...oidcCommands,
  ...statementCommands,
]

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** `environment` is read only by commands that need the settings: help works with wrong settings too. */
export async function runAdmin(
  words: readonly string[],
  environment: () => Environment,
): Promise<CommandResult> {
  try {
    const { text, failed, problem } = await run(words, environment)
    return {
      code: failed ? 1 : 0,
      stdout: text === '' ? '' : `${text}\n`,
      stderr: problem === undefined ? '' : `${oneLine(problem)}\n`,
    }
  } catch (error) {
    return { code: 1, stdout: '', stderr: `${oneLine(shorten(describeError(error), words))}\n` }
  }
}

interface CommandOutput {
  readonly text: string
  readonly failed?: boolean
  readonly problem?: string | undefined
}

async function run(given: readonly string[], environment: () => Environment): Promise<CommandOutput> {
  // `--json` may also come first.
  const words = given[0] === '--json' ? [...given.slice(1), '--json'] : given
  if (words.length === 0 || words[0] === '--help' || words[0] === 'help') {
    return { text: help(commands) }
  }
  const command = findCommand(words)
  const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `))
  if (!command && group.length > 0 && words[1] === '--help') {
    return { text: help(group) }
  }
  if (!command)
    throw new UsageError(
      `命令不存在：${words.slice(0, 2).join(' ')}，用 --help 查看 / no such command, see --help`,
    )
  const { flags, positionals } = readWords(command, words)
  if (flags['help'] === true) {
    return { text: help([command]) }
  }
  const rest = positionals.slice(command.name.split(' ').length)
  if (rest.length < command.minWords || rest.length > command.maxWords) {
    throw new UsageError(`用法 / usage: ${shortUsage(command)}`)
  }
  const config = readConfig(environment())
  const installation = await openInstallation(config, { skipSecretCheck: command.skipSecretCheck ?? false })
  try {
    const output = await command.run({ config, installation, words: rest, flags })
    const isNew = installation.migrated[0] === firstMigration && !command.startsEmpty
    const { failed = false, problem = isNew ? newDatabaseNote : undefined } = output
    if (flags['json'] === true) return { text: JSON.stringify(output.json), failed, problem }
    return { text: output.text, failed, problem }
  } finally {
    await installation.close()
  }
}

/** Without its settings, a nightly check or backup would succeed on an empty database. */
const newDatabaseNote =
  '数据库为空，已创建；如应有数据，请检查工作目录、.env 与 DATA_DIR / the database was empty and was set up; if it should contain data, check the working directory, .env and DATA_DIR'
const firstMigration = migrations[0]!.name

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find((command) => {
    const name = command.name.split(' ')
    return name.every((word, index) => words[index] === word)
  })
}

function readWords(command: Command, words: readonly string[]): { flags: Flags; positionals: string[] } {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { ...command.flags, json: { type: 'boolean' }, help: { type: 'boolean' } },
      tokens: true,
    })
    requireOnce(command, tokens)
    return { flags: values as Flags, positionals }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/\.?\n|\. /)[0] : ''
    throw new UsageError(`参数有误 / ${reason}; 用法 / usage: ${shortUsage(command)}`)
  }
}

/** `parseArgs` keeps the last value of a repeated flag and drops the others. */
function requireOnce(command: Command, tokens: readonly { readonly kind: string; readonly name?: string }[]) {
  const given = new Set<string>()
  for (const { name } of tokens) {
    if (name === undefined || name === 'json' || command.flags[name]?.multiple === true) continue
    if (given.has(name)) throw new Error(`Option '--${name}' is given twice`)
    given.add(name)
  }
}

function formatUsage(command: Command): string {
  return `admin ${command.name} ${command.usage}`.trim()
}

/** The usage of a command with many flags has several lines. */
function shortUsage(command: Command): string {
  return formatUsage(command).replaceAll(/\s+/g, ' ')
}

function help(list: readonly Command[]): string {
  const lines = list.map(
    (command) => `  ${formatUsage(command)}\n      ${command.text.zh} / ${command.text.en}`,
  )
  return ['npm run --silent admin -- COMMAND [--json]', '', ...lines].join('\n')
}

/** Longer than a name, an address or most paths. */
const maxShownWord = 255

/** A message may contain an argument. The argument may be a whole file that was given by mistake. */
function shorten(message: string, words: readonly string[]): string {
  return words
    .filter((word) => word.length > maxShownWord)
    .reduce((text, word) => text.replaceAll(word, () => printable(word)), message)
}

function describeError(error: unknown): string {
  if (error instanceof AppError) return `${error.text.zh} / ${error.text.en}`
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof StartProblem)
    return error.message
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return `失败 / failed: ${reason}`
}
