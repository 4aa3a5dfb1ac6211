// Writes one violation of each kind into a temporary tree and checks that the linter reports it with our settings.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')

interface LintFixture {
  readonly file: string
  readonly code: string
}

/** Code that must be rejected, and the expected message. */
const violations: readonly (LintFixture & { readonly message: RegExp })[] = [
  // Folders.
  rejected(
    'contract/a.ts',
    `import '../server/http/errors.ts'`,
    /contract\/ may import itself; server\/http/,
  ),
  rejected('web/a.ts', `import '../server/http/errors.ts'`, /web\/ may import itself, contract\/;/),
  rejected('web/b.ts', `import '../sdk/client.ts'`, /web\/ may import/),
  rejected('sdk/a.ts', `import '../server/http/errors.ts'`, /sdk\/ may import/),
  rejected('cli/a.ts', `import '../web/client.ts'`, /cli\/ may import/),
  rejected('server/sms/a.ts', `import '../identity/port.ts'`, /server\/sms\/ may import/),
  rejected('server/sms/b.ts', `import type { Port } from '../identity/port.ts'`, /server\/sms\/ may import/),
  rejected('server/shortlink/a.ts', `import '../console/static-files.ts'`, /server\/shortlink\/ may import/),
  rejected('server/shortlink/b.ts', `import '../console/routes.ts'`, /server\/shortlink\/ may import/),
  rejected('server/shortlink/console.ts', `import '../console/console.ts'`, /server\/shortlink\/ may import/),
  rejected('server/shortlink/x-console.ts', `import '../sms/service.ts'`, /server\/shortlink\/ may import/),
  rejected('server/audit/a.ts', `import '../console/routes.ts'`, /server\/audit\/ may import/),
  rejected('server/request-log/a.ts', `import '../sms/service.ts'`, /server\/request-log\/ may import/),
  rejected('server/accounts/b.ts', `import '../limits/limits.ts'`, /only types of server\/limits/),
  rejected('server/identity/a.ts', `import '../operations/health.ts'`, /server\/identity\/ may import/),
  rejected('server/domain-check/a.ts', `import '../app.ts'`, /server\/domain-check\/ may import/),
  rejected('server/sms/c.ts', `import '../main.ts'`, /server\/sms\/ may import/),
  rejected('server/payments/a.ts', `import '../statements/statements.ts'`, /server\/payments\/ may import/),
  rejected('server/sms/d.ts', `import { settings } from '../config.ts'`, /only types of server\/config\.ts/),
  rejected('server/accounts/a.ts', `import '../credits/credits.ts'`, /server\/accounts\/ may import/),
  rejected('server/credits/a.ts', `import '../sms/service.ts'`, /server\/credits\/ may import/),
  rejected('server/http/a.ts', `import '../accounts/key.ts'`, /server\/http\/ may import itself, contract\//),
  rejected('server/db/a.ts', `import '../http/errors.ts'`, /server\/db\/ may import itself, contract\/,/),
  rejected('server/upstream/a.ts', `import '../http/body.ts'`, /server\/upstream\/ may import/),
  rejected('server/sms/gateways/a.ts', `import '../service.ts'`, /server\/sms\/gateways\/ may import/),
  rejected('server/sms/gateways/b.ts', `import '../../identity/gateways/b.ts'`, /gateways\/ may import/),
  rejected('server/sms/gateways/c.ts', `import '../../http/errors.ts'`, /gateways\/ may import/),
  rejected('server/console/a.ts', `import '../../cli/admin.ts'`, /server\/ may import/),
  rejected('server/app.ts', `import '../test/support/postgres.ts'`, /server\/ may import/),

  // Every syntax of an import.
  rejected('contract/ways/a.ts', `export { x } from '../../server/x.ts'`, /contract\/ may import/),
  rejected('contract/ways/b.ts', `export * from '../../server/x.ts'`, /contract\/ may import/),
  rejected('contract/ways/c.ts', `export type { X } from '../../server/x.ts'`, /contract\/ may import/),
  rejected('contract/ways/d.ts', `await import('../../server/x.ts')`, /contract\/ may import/),
  rejected('contract/ways/e.ts', 'await import(`../../server/x.ts`)', /contract\/ may import/),
  rejected('contract/ways/f.ts', `export type X = import('../../server/x.ts').X`, /contract\/ may import/),
  rejected('contract/ways/g.ts', `import type { X } from '../../server/x.ts'`, /contract\/ may import/),
  rejected(
    'contract/ways/h.ts',
    `import * as x from '../.././contract/../server/x.ts'`,
    /contract\/ may import/,
  ),

  // The database.
  rejected(
    'server/sms/service.ts',
    `import { coalesce } from '../db/coalesce.ts'`,
    /only server\/db\/, a store/,
  ),
  rejected('server/sms/e.ts', `import { type Tx, open } from '../db/database.ts'`, /only server\/db\//),
  rejected('server/sms/f.ts', `import * as db from '../db/database.ts'`, /only server\/db\//),
  rejected('server/sms/g.ts', `import '../db/database.ts'`, /only server\/db\//),
  rejected('server/sms/h.ts', `await import('../db/database.ts')`, /only server\/db\//),
  rejected('server/operations/a.ts', `import { open } from '../db/database.ts'`, /only server\/db\//),
  rejected('server/sms/i.ts', `import { sql } from 'kysely'`, /may import kysely/),
  rejected('server/sms/j.ts', `import type { Kysely } from 'kysely'`, /may import kysely/),
  rejected('server/sms/k.ts', `import { Pool } from 'pg'`, /may import pg/),
  rejected('server/sms/l.ts', `import { DatabaseSync } from 'node:sqlite'`, /may import node:sqlite/),
  rejected('server/main.ts', `import { sql } from 'kysely/helpers/sqlite'`, /may import kysely/),
  rejected(
    'web/schemas.ts',
    `import { SmsSent } from '../contract/console/responses/sms.ts'`,
    /may import contract\/console\/responses\/sms\.ts: write "import type"/,
  ),
  rejected('cli/b.ts', `import { Pool } from 'pg'`, /may import pg/),
  rejected('server/runtime/workers.ts', `import { open } from '../db/database.ts'`, /only server\/db\//),
  rejected('server/sms/restore.ts', `import { open } from '../db/database.ts'`, /only server\/db\//),

  // Barrels, default exports, cycles.
  rejected('contract/barrel/a.ts', `export { x } from './x.ts'\nexport { y } from './y.ts'`, /a barrel/),
  rejected('contract/barrel/b.ts', `import { x } from './x.ts'\nexport { x }`, /a barrel/),
  rejected('contract/barrel/c.ts', `export * from '../text.ts'\nexport const y = 1`, /Barrel file/),
  rejected('contract/default.ts', `export default 1`, /Prefer named exports/),
  rejected('contract/round/a.ts', `import { b } from './b.ts'\nexport const a = () => b`, /Dependency cycle/),
  rejected('contract/round/b.ts', `import { a } from './a.ts'\nexport const b = () => a`, /Dependency cycle/),
  rejected(
    'contract/types/a.ts',
    `import type { B } from './b.ts'\nexport type A = B | 1`,
    /Dependency cycle/,
  ),
  rejected(
    'contract/types/b.ts',
    `import type { A } from './a.ts'\nexport type B = A | 2`,
    /Dependency cycle/,
  ),

  // Other lint settings.
  rejected('server/http/b.ts', `export const f = (x: any): number => x.y`, /Unexpected `any`/),
  rejected('server/http/c.ts', `export const f = (x: string): number => JSON.parse(x)`, /Unsafe return/),
  rejected('server/http/d.ts', `export const x: { y: 1 } = JSON.parse('1')`, /Unsafe assignment/),
  rejected(
    'server/http/e.ts',
    `export const f = (): void => { Promise.resolve(1) }`,
    /Promises must be awaited/,
  ),
  rejected('server/http/f.ts', `[1].forEach(async (x) => { await Promise.resolve(x) })`, /Promise/),
  rejected('server/http/g.ts', `export const f = (x: number): boolean => x == 1`, /===/),
  rejected('server/http/h.ts', `const unused = 1\nexport const x = 2`, /unused/),
  rejected('server/http/i.ts', `import { Server } from 'node:net'\nexport type T = Server`, /import type/i),
  rejected('server/http/j.ts', `import { type Server } from 'node:net'\nexport type T = Server`, /type/),
  rejected('server/http/k.ts', `${'export {}\n'.repeat(401)}`, /too many lines/),
  rejected('test/long.ts', `${'export {}\n'.repeat(601)}`, /too many lines/),
]

/** Code that must pass. All imports exist in the temporary tree. */
const clean: readonly LintFixture[] = [
  { file: 'contract/text.ts', code: `export type Text = string\nexport const none: Text = ''` },
  { file: 'contract/good.ts', code: `import { none } from './text.ts'\nexport const good = none` },
  {
    file: 'server/db/database.ts',
    code: `import { sql } from 'kysely'\nexport type Tx = typeof sql\nexport const open = sql`,
  },
  { file: 'server/config.ts', code: `export interface Config { readonly port: number }` },
  {
    file: 'server/http/errors.ts',
    code: `import { none } from '../../contract/text.ts'\nexport const error = none`,
  },
  {
    file: 'server/upstream/call.ts',
    code: `import { error } from '../http/errors.ts'\nexport const call = error`,
  },
  {
    file: 'server/accounts/key.ts',
    code: `import { error } from '../http/errors.ts'\nexport const key = error`,
  },
  {
    file: 'server/credits/charge.ts',
    code: `import { key } from '../accounts/key.ts'\nexport const charge = key`,
  },
  {
    file: 'server/sms/good-service.ts',
    code:
      `import { none } from '../../contract/text.ts'\nimport { key } from '../accounts/key.ts'\n` +
      `import type { Config } from '../config.ts'\nimport { charge } from '../credits/charge.ts'\n` +
      `import type { Tx } from '../db/database.ts'\nimport { call } from '../upstream/call.ts'\n` +
      `import { read } from './store.ts'\n` +
      `export const all = (tx: Tx, config: Config) => [tx, config, none, key, charge, call, read]`,
  },
  { file: 'server/sms/store.ts', code: `import { open } from '../db/database.ts'\nexport const read = open` },
  {
    file: 'server/sms/receipt-store.ts',
    code: `import { sql } from 'kysely'\nimport { open } from '../db/database.ts'\nexport const read = [open, sql]`,
  },
  { file: 'server/sms/port.ts', code: `export type Port = number` },
  { file: 'server/sms/gateways/kit.ts', code: `export const kit = 1` },
  {
    file: 'server/sms/gateways/sandbox.ts',
    code:
      `import { call } from '../../upstream/call.ts'\nimport type { Port } from '../port.ts'\n` +
      `import { kit } from './kit.ts'\nexport const sandbox = (port: Port) => [port, call, kit]`,
  },
  { file: 'server/console/routes.ts', code: `export const api = 1` },
  {
    file: 'server/sms/console.ts',
    code: `import { api } from '../console/routes.ts'\nexport const pages = api`,
  },
  {
    file: 'server/console/static-files.ts',
    code: `import { all } from '../sms/good-service.ts'\nexport const pages = all`,
  },
  { file: 'cli/good.ts', code: `import { open } from '../server/db/database.ts'\nexport const good = open` },
  {
    file: 'server/sms/any.test.ts',
    code:
      `import { test } from 'node:test'\nimport { Pool } from 'pg'\nimport { pages } from '../console/pages.ts'\n` +
      `test('floats as node:test means it', async () => {\n  await new Pool().end()\n  console.log(pages)\n})`,
  },
  { file: 'bench/good.ts', code: `import { open } from '../server/db/database.ts'\nconsole.log(open)` },
  { file: 'test/support/tall.ts', code: `${'export {}\n'.repeat(401)}` },
]

interface LintFinding {
  readonly message: string
  readonly filename: string
}

let folder = ''
let findings = new Map<string, string[]>()

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-lint-')))
  for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json', 'tools/lint/import-rules.js']) {
    await cp(join(root, name), join(folder, name))
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  for (const { file, code } of [...clean, ...violations]) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), `${code}\n`)
  }
  findings = await lint()
})

after(() => rm(folder, { recursive: true, force: true }))

describe('rejected', () => {
  for (const { file, code, message } of violations) {
    test(`${file}: ${code.slice(0, 80).replaceAll('\n', '; ')}`, () => {
      assert.match((findings.get(file) ?? []).join('\n'), message)
    })
  }
})

describe('allowed', () => {
  for (const { file } of clean) test(file, () => assert.deepEqual(findings.get(file), undefined))
})

function rejected(file: string, code: string, message: RegExp): LintFixture & { readonly message: RegExp } {
  return { file, code, message }
}

async function lint(): Promise<Map<string, string[]>> {
  const cli = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint')
  const output = await new Promise<string>((resolve) => {
    // The exit code is 1, because there are violations.
    execFile(process.execPath, [cli, '--type-aware', '--format=json'], { cwd: folder }, (_error, out) =>
      resolve(out),
    )
  })
  const { diagnostics } = JSON.parse(output) as { diagnostics: readonly LintFinding[] }
  const byFile = new Map<string, string[]>()
  for (const { message, filename } of diagnostics) {
    const file = filename.replaceAll('\\', '/')
    byFile.set(file, [...(byFile.get(file) ?? []), message])
  }
  return byFile
}
