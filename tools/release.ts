// `npm run release`: checks that the repository is ready for a release. With `--tag` it also creates the git tag.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
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

function release(): void {
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
  else if (process.argv.includes('--tag')) {
    git('tag', '--annotate', tag, '--message', `Tollgate ${version}`)
    console.log(`created the tag ${tag}. Publish it:\n  git push origin ${tag}`)
  } else {
    console.log(
      `ready. Create and publish the tag:\n  git tag --annotate ${tag} --message 'Tollgate ${version}'\n  git push origin ${tag}`,
    )
  }
}

release()
