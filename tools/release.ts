// `npm run release`: checks that the repository is ready for a release. With `--tag` it also creates the git tag.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readRecord } from '../server/console/built.ts'
import { digestOfSources } from './console-build.ts'

const root = resolve(import.meta.dirname, '..')

/** Where the version is written, besides package.json. The first group of each pattern is the version. */
const versionPlaces: readonly (readonly [string, RegExp])[] = [
  ['package-lock.json', /^\{\n {2}"name": "tollgate",\n {2}"version": "([^"]+)"/],
  ['sdk/node/package.json', /"version": "([^"]+)"/],
  ['sdk/php/src/Transport.php', /'tollgate-php\/([^']+)'/],
  ['sdk/python/pyproject.toml', /^version = "([^"]+)"/m],
  ['sdk/python/src/tollgate/__init__.py', /^__version__ = "([^"]+)"/m],
  ['sdk/python/src/tollgate/transport.py', /"tollgate-python\/([^"]+)"/],
  ['sdk/java/pom.xml', /<artifactId>tollgate-sdk<\/artifactId>\s*<version>([^<]+)</],
  ['sdk/java/README.md', /<artifactId>tollgate-sdk<\/artifactId>\s*<version>([^<]+)</],
  ['sdk/java/src/main/java/io/tollgate/Transport.java', /"tollgate-java\/([^"]+)"/],
  ['sdk/go/client.go', /^const Version = "([^"]+)"/m],
]

export type ReadText = (path: string) => string

/** What differs between the files of the repository and the version in package.json. */
export function findVersionProblems(read: ReadText): string[] {
  const { version, optionalDependencies = {} } = JSON.parse(read('package.json')) as {
    version: string
    optionalDependencies?: Readonly<Record<string, string>>
  }
  const problems = versionPlaces.flatMap(([path, pattern]) => {
    const found = pattern.exec(read(path))?.[1]
    return found === version ? [] : [`${path} has version ${found ?? 'none'}, package.json has ${version}`]
  })
  const [node] = new Set(Object.values(optionalDependencies))
  const image = /^FROM node:([\d.]+)-/m.exec(read('deploy/Dockerfile'))?.[1]
  if (image !== node) problems.push(`deploy/Dockerfile uses Node ${image}, package.json ${node}`)
  return problems
}

/** The newest section of the changelog must be the released version, with its date. */
export function findChangelogProblems(changelog: string, version: string): string[] {
  const heading = /^## (.+)$/m.exec(changelog)?.[1] ?? 'none'
  return heading.startsWith(`${version} (`) && /\(\d{4}-\d{2}-\d{2}\)$/.test(heading)
    ? []
    : [`the newest heading of CHANGELOG.md is "${heading}", expected "${version} (YYYY-MM-DD)"`]
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function release(): void {
  const read: ReadText = (path) => readFileSync(join(root, path), 'utf8')
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const tag = `v${version}`
  const problems = [...findVersionProblems(read), ...findChangelogProblems(read('CHANGELOG.md'), version)]
  if (git('status', '--porcelain') !== '')
    problems.push('the working tree has changes that are not committed')
  if (git('tag', '--list', tag) !== '') problems.push(`the tag ${tag} exists`)
  if (readRecord()?.sources !== digestOfSources())
    problems.push('web/dist was built from other sources: run npm run build:web and commit it')
  if (problems.length === 0) {
    const { status } = spawnSync('npm', ['run', 'check'], { cwd: root, stdio: 'inherit' })
    if (status !== 0) problems.push('npm run check failed')
  }
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else if (process.argv.includes('--tag')) {
    git('tag', '--annotate', tag, '--message', `Tollgate ${version}`)
    console.log(`created the tag ${tag}`)
  } else console.log(`ready: create the tag ${tag} with npm run release -- --tag`)
}

if (import.meta.main) release()
