// `npm run release`: checks that the repository is ready for a release. With `--tag` it also creates the git tag.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readRecord } from '../server/console/built.ts'
import { digestOfSources } from './console-build.ts'
import {
  findChangelogProblems,
  findRepositoryProblems,
  findTagProblems,
  findVersionProblems,
  type ReadText,
} from './release-checks.ts'

const root = resolve(import.meta.dirname, '..')

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function release(createsTag: boolean): void {
  const read: ReadText = (path) => readFileSync(join(root, path), 'utf8')
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const tag = `v${version}`
  const tagsOfHead = git('tag', '--points-at', 'HEAD').split('\n')
  const isTagged = tagsOfHead.includes(tag)
  const problems = [
    ...findVersionProblems(read),
    ...findRepositoryProblems(read),
    ...findChangelogProblems(read('CHANGELOG.md'), version),
    ...findTagProblems(tagsOfHead, version),
  ]
  if (git('status', '--porcelain') !== '')
    problems.push('the working tree has changes that are not committed')
  if (!isTagged && git('tag', '--list', tag) !== '')
    problems.push(`the tag ${tag} exists at another commit: set the next version`)
  if (!isTagged && spawnSync('git', ['var', 'GIT_COMMITTER_IDENT'], { cwd: root }).status !== 0)
    problems.push('git has no name for the author of the tag: set user.name and user.email')
  if (readRecord()?.sources !== digestOfSources())
    problems.push('web/dist was built from other sources: run npm run build:web and commit it')
  if (problems.length === 0) {
    const { status } = spawnSync('npm', ['run', 'check'], { cwd: root, stdio: 'inherit' })
    if (status !== 0) problems.push('npm run check failed')
  }
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else if (isTagged) console.log(`HEAD is ${tag}. Publish it:\n  git push origin ${tag}`)
  else if (createsTag) {
    git('tag', '--annotate', tag, '--message', `Tollgate ${version}`)
    console.log(`created the tag ${tag}. Publish it:\n  git push origin ${tag}`)
  } else {
    console.log(
      `ready. Create and publish the tag:\n  git tag --annotate ${tag} --message 'Tollgate ${version}'\n  git push origin ${tag}`,
    )
  }
}

const help = `npm run release -- [--tag]

Checks that the repository is ready for a release and runs npm run check.
  --tag   also creates the git tag of the version in package.json`

function readOptions(): { readonly tag?: boolean; readonly help?: boolean } | undefined {
  try {
    return parseArgs({ options: { tag: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } }).values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`)
    process.exitCode = 2
    return undefined
  }
}

const options = readOptions()
if (options?.help === true) console.log(help)
else if (options) release(options.tag ?? false)
