// A production install as an operator does it: a fresh copy of the repository, `npm ci --omit=dev`, `npm start`. Needs the registry
// (or npm's cache) once, and takes as long as the packages take to come.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from './support/root.ts'

const run = promisify(execFile)

/** What npm says when it cannot get at its packages: no fault of ours. */
const unreachable = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E50\d/

interface Failed {
  readonly stdout?: string
  readonly stderr?: string
}

describe('a production install', { timeout: 600_000 }, () => {
  let folder: string
  let app: string
  let service: ChildProcess | undefined
  let said = ''
  let reason: string | undefined

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-production-'))
    app = join(folder, 'tollgate')
    const names = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 1e8 }).then(
      ({ stdout }) => stdout.split('\0').filter((name) => name !== '' && existsSync(join(root, name))),
      () => undefined,
    )
    if (names === undefined) {
      reason = 'the sources are no git checkout: what belongs to the repository is unknown'
      return
    }
    for (const name of names) await cp(join(root, name), join(app, name))
    const words = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline']
    await run('npm', words, { cwd: app, env: environment() }).catch((error: Failed) => {
      const told = `${error.stdout}${error.stderr}`
      if (!unreachable.test(told)) throw new Error(told, { cause: error })
      reason = 'the package registry cannot be reached'
    })
  })

  after(async () => {
    if (service?.exitCode === null) {
      service.kill('SIGTERM')
      await once(service, 'exit')
    }
    await rm(folder, { recursive: true, force: true })
  })

  /** What npm sets for the scripts of this checkout is not for the other one, except where its packages come from. */
  function environment(): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_|^NODE_|^TEST_DATABASE_URL$/i.test(name) || /^npm_config_(registry|cache)$/i.test(name),
    )
    return { ...Object.fromEntries(kept), PORT: '0', DATA_DIR: join(folder, 'data') }
  }

  test('has no development packages, its own Node, and the built console', async (context) => {
    if (reason !== undefined) return context.skip(reason)
    for (const name of ['vite', 'react', 'typescript', 'playwright-core']) {
      assert.ok(!existsSync(join(app, 'node_modules', name)), name)
    }
    assert.ok(existsSync(join(app, 'web/dist/index.html')))
    const { optionalDependencies } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>
    }
    const own = Object.keys(optionalDependencies).find((name) => existsSync(join(app, 'node_modules', name)))
    if (own === undefined) {
      context.diagnostic(`no Node comes as a package for ${process.platform} ${process.arch}`)
      return
    }
    const options = { cwd: app, env: environment() }
    const version = async () => (await run('npm', ['exec', '--', 'node', '--version'], options)).stdout.trim()
    assert.equal(await version(), `v${optionalDependencies[own]}`)
    // npm 10 leaves the packages without this link; `prepare` puts it back.
    await rm(join(app, 'node_modules/.bin', process.platform === 'win32' ? 'node.cmd' : 'node'))
    await run('npm', ['run', 'prepare'], options)
    assert.equal(await version(), `v${optionalDependencies[own]}`)
  })

  test('serves the console with all its scripts, and the printed curl line works', async (context) => {
    if (reason !== undefined) return context.skip(reason)
    const url = await start()
    const page = await fetch(`${url}/console/`)
    assert.equal(page.status, 200)
    const assets = [...(await page.text()).matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(
      ([, path]) => path!,
    )
    assert.ok(assets.some((path) => path.endsWith('.js')))
    // Pages are loaded when first opened: their files are named in the first scripts.
    const later = readFileSync(
      join(app, 'web/dist', assets.find((path) => path.endsWith('.js'))!.slice(9)),
      'utf8',
    )
    for (const [, name] of later.matchAll(/"(assets\/[\w.-]+\.(?:js|css))"/g)) assets.push(`/console/${name}`)
    assert.ok(assets.length > 10, 'the pages that are loaded later')
    for (const path of new Set(assets)) {
      const answer = await fetch(`${url}${path}`)
      assert.equal(answer.status, 200, path)
      await answer.arrayBuffer()
    }
    const script = assets.find((path) => /index-.*\.js$/.test(path))!
    const compressed = await fetch(`${url}${script}`, { headers: { 'accept-encoding': 'br' } })
    assert.equal(compressed.headers.get('content-encoding'), 'br')
    await compressed.arrayBuffer()

    const line = /^ *(curl .*)$/m.exec(said)?.[1]
    assert.ok(line, said)
    const { stdout } = await run('bash', ['-c', line])
    assert.ok(stdout.includes('"code":0') || stdout.includes('"success":true'), stdout)
  })

  test('is found well by the doctor', async (context) => {
    if (reason !== undefined) return context.skip(reason)
    const url = /is running: (\S+)/.exec(said)![1]!
    const env = { ...environment(), PUBLIC_URL: url }
    const { stdout } = await run('npm', ['run', '--silent', 'doctor', '--', '--json'], { cwd: app, env })
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: { check: string; state: string }[] }
    assert.equal(ok, true, stdout)
    assert.equal(checks.find(({ check }) => check === 'console')?.state, 'ok')
  })

  function start(): Promise<string> {
    const child = spawn('npm', ['start'], { cwd: app, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
    service = child
    return new Promise((ready, failed) => {
      const hear = (part: Buffer) => {
        said += part.toString()
        const url = /is running: (\S+)/.exec(said)?.[1]
        // The curl line comes with the accounts, after the address.
        if (url !== undefined && said.includes('shown only once')) ready(url)
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      child.once('exit', () => failed(new Error(said)))
    })
  }
})
