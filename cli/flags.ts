// Reads flags: `--help` prints the help text, and an unknown flag ends the command with one line.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

export function readFlags<O extends ParseArgsOptionsConfig>(
  help: string,
  options: O,
  allowPositionals = false,
) {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals,
      options: { ...options, help: { type: 'boolean' } } as O & { help: { type: 'boolean' } },
    })
    if ((values as { help?: boolean }).help) {
      process.stdout.write(`${help}\n`)
      process.exit(0)
    }
    return { values, positionals }
  } catch (error) {
    return refuse(error instanceof Error ? error.message.split(/\n|\. /)[0]! : String(error))
  }
}

export function refuse(reason: string): never {
  process.stderr.write(`${reason}; 用 --help 查看 / see --help\n`)
  process.exit(1)
}

export function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$|^0$/.test(text)) refuse(`--${name} 必须是整数 / must be an integer`)
  return Number(text)
}
