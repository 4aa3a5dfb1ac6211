// Checks that settings, links and commands in the documents exist, and that both languages have the same parts.
import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { isSettingName, settings } from '../server/config.ts'
import { operationsPages, withSettings } from '../tools/settings-table.ts'
import { listTables } from '../server/db/catalog.ts'
import { freshDatabase } from './support/engines.ts'
import { root } from './support/root.ts'
import { runNode } from './support/service.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('documents', () => {
  for (const [language, file] of Object.entries(operationsPages)) {
    test(`the ${language} operations page lists the settings of the code`, async () => {
      const page = await readFile(file, 'utf8')
      assert.equal(page, withSettings(page, language as 'zh' | 'en'), 'run npm run docs:settings')
      for (const name of Object.keys(settings)) assert.ok(page.includes(`| \`${name}\` |`), name)
    })
  }

  test('both operations pages say how long each table is kept', async () => {
    await using fresh = await freshDatabase('sqlite')
    const tables = [...(await listTables(fresh.db)), 'limit_bucket', 'limit_window']
    for (const file of Object.values(operationsPages)) {
      const rows = (await readFile(file, 'utf8')).split('\n').filter((line) => line.startsWith('| `'))
      const named = new Set(rows.flatMap((row) => row.split('|')[1]!.match(/[a-z_]+/g) ?? []))
      assert.deepEqual(
        tables.filter((table) => !named.has(table)),
        [],
        String(file),
      )
    }
  })

  const pages = [
    'README.md',
    'README.zh-CN.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'docs/operations.md',
    'docs/operations.en.md',
    'sdk/node/README.md',
    'sdk/php/README.md',
    'sdk/python/README.md',
    'sdk/java/README.md',
    'sdk/go/README.md',
  ]

  test('links lead to existing files and headings', () => {
    for (const page of pages) {
      const text = read(page)
      for (const [, target] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path, anchor] = target!.split('#') as [string, string | undefined]
        const file = path === '' ? join(root, page) : join(root, dirname(page), path)
        assert.ok(existsSync(file), `${page}: ${target}`)
        if (anchor === undefined || !file.endsWith('.md')) continue
        assert.ok(anchorsOf(readFileSync(file, 'utf8')).includes(anchor), `${page}: ${target}`)
      }
    }
  })

  test('named files exist', () => {
    const folders = '{bench,cli,contract,deploy,docs,sdk,server,test,tools,web}'
    const files = globSync(['*.{js,md}', `${folders}/**/*.{ts,tsx,js,md,css,conf,cfg,service}`], {
      cwd: root,
      exclude: ['**/node_modules/**', '**/dist/**', 'bench/results/**'],
    }).map((file) => file.replaceAll('\\', '/'))
    const documents = files.filter((file) => file.endsWith('.md'))
    assert.ok(documents.length > 20)
    for (const document of documents) {
      for (const [, path] of read(document).matchAll(
        /`((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:tsx?|js|css|conf|cfg|service))`/g,
      ))
        // A path may begin at the folder that the text is about.
        assert.ok(
          files.some((file) => file === path || file.endsWith(`/${path}`)),
          `${document}: ${path}`,
        )
    }
  })

  test('the layout lists everything in server/', () => {
    const page = read('docs/ARCHITECTURE.md')
    const layout = page.slice(page.indexOf('## Layout'), page.indexOf('## Glossary'))
    const inServer = layout.slice(layout.indexOf('    server/\n'), layout.indexOf('    web/ '))
    const missing = readdirSync(join(root, 'server'), { withFileTypes: true })
      .filter(({ name }) => !name.endsWith('.test.ts'))
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .filter((name) => !inServer.includes(`      ${name} `) && !inServer.includes(` ${name} `))
    assert.deepEqual(missing, [])
  })

  test('all named commands and settings exist', async () => {
    const { scripts, version } = JSON.parse(read('package.json')) as {
      scripts: Record<string, string>
      version: string
    }
    const { stdout: help } = await runNode(['start.js', 'cli/admin.ts', '--help'], {})
    for (const page of pages) {
      const text = read(page)
      for (const [, script] of text.matchAll(/npm run (?:--silent )?([a-z:]+)/g)) {
        assert.ok(scripts[script!] ?? page.startsWith('sdk/'), `${page}: npm run ${script}`)
      }
      for (const [, command] of text.matchAll(/(?:admin --|`admin) ([a-z]+ [a-z-]+)\b/g)) {
        const [group] = command!.split(' ')
        const isKnown =
          help.includes(`  admin ${command} `) ||
          help.includes(`  admin ${command}\n`) ||
          help.includes(`  admin ${group} FILE`) ||
          help.includes(`  admin ${group}\n`)
        assert.ok(isKnown, `${page}: ${command}`)
      }
      for (const [, name] of text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)) {
        const known =
          isSettingName(name!) ||
          ['TOLLGATE_API_KEY', 'POSTGRES_PASSWORD', 'NODE_EXTRA_CA_CERTS', 'CHROMIUM_PATH'].includes(name!)
        assert.ok(known, `${page}: ${name}`)
      }
    }
    assert.ok(read('CHANGELOG.md').includes(`## ${version}`))
  })
})

describe('both languages', () => {
  for (const [zh, en] of [
    ['README.zh-CN.md', 'README.md'],
    ['docs/operations.md', 'docs/operations.en.md'],
  ] as const) {
    test(`${zh} and ${en} have the same parts`, () => {
      const [chinese, english] = [partsOf(read(zh)), partsOf(read(en))]
      for (const part of Object.keys(chinese) as (keyof typeof chinese)[]) {
        assert.deepEqual(english[part], chinese[part], part)
      }
    })
  }
})

/** Returns the parts that both languages share: sections, tables, commands, settings, files. */
function partsOf(text: string) {
  const unique = (found: Iterable<string>) => [...new Set(found)].toSorted()
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([whole]) => whole)
  return {
    sections: all(/^##+ /gm),
    anchors: all(/<a id="[^"]+"/g),
    tables: all(/^\|---.*$/gm),
    rows: all(/^\|/gm).length,
    commands: unique(
      all(/(?:npm run (?:--silent )?[a-z:]+(?: -- [a-z]+(?: [a-z-]+)?)?|npm (?:ci|start|test)\b)/g),
    ),
    admin: unique(all(/`admin [a-z]+ [a-z-]+/g)),
    settings: unique(all(/`[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+/g)),
    files: unique(
      all(/\b(?:deploy|docs|sdk|server)\/[\w./-]*\.(?:md|json|ya?ml|conf|service)\b/g).map((path) =>
        path.replace('.en.md', '.md'),
      ),
    ),
  }
}

function anchorsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)"/g)].map(([, id]) => id!)]
}
