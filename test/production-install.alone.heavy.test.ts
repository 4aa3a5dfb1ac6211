// A production install: a new copy of the repository, `npm ci --omit=dev`, `npm start`. Needs the package registry or a filled
// npm cache.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { registryUnreachable } from './support/openapi-tools.ts'
import { root } from './support/root.ts'

const run = promisify(execFile)

interface CommandFailure {
  readonly stdout?: string
  readonly stderr?: string
}

describe('a production install', { timeout: 600_000 }, () => {
  let folder: string
  let app: string
  let service: ChildProcess | undefined
  let output = ''
  let reason: string | undefined

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-production-'))
    app = join(folder, 'tollgate')
    const names = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 1e8 }).then(
      ({ stdout }) => stdout.split('\0').filter((name) => name !== '' && existsSync(join(root, name))),
      () => undefined,
    )
    if (names === undefined) {
      reason = 'the sources are not a git checkout'
      return
    }
    for (const name of names) await cp(join(root, name), join(app, name))
    const args = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline']
    await run('npm', args, { cwd: app, env: environment() }).catch((error: CommandFailure) => {
      const npmOutput = `${error.stdout}${error.stderr}`
      if (!registryUnreachable.test(npmOutput)) throw new Error(npmOutput, { cause: error })
      reason = 'the package registry is unreachable'
    })
  })

  after(async () => {
    if (service?.exitCode === null) {
      service.kill('SIGTERM')
      await once(service, 'exit')
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  })

  /** The environment without the npm and Node.js variables of this checkout, except registry and cache. */
  function environment(): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_|^NODE_|^TEST_DATABASE_URL$/i.test(name) || /^npm_config_(registry|cache)$/i.test(name),
    )
    return { ...Object.fromEntries(inherited), PORT: '0', DATA_DIR: join(folder, 'data') }
  }

  test('has no development packages, and has the packaged Node.js and the built console', async (context) => {
    if (reason !== undefined) return context.skip(reason)
    for (const name of ['vite', 'react', 'typescript', 'playwright-core']) {
      assert.ok(!existsSync(join(app, 'node_modules', name)), name)
    }
    assert.ok(existsSync(join(app, 'web/dist/index.html')))
    assert.equal(readdirSync(join(app, '.cache/server')).length, 1, 'the build of the service')
    const { optionalDependencies } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>
    }
    const nodePackage = Object.keys(optionalDependencies).find((name) =>
      existsSync(join(app, 'node_modules', name)),
    )
    if (nodePackage === undefined) {
      context.diagnostic(`there is no Node.js package for ${process.platform} ${process.arch}`)
      return
    }
    const options = { cwd: app, env: environment() }
    const version = async () => (await run('npm', ['exec', '--', 'node', '--version'], options)).stdout.trim()
    assert.equal(await version(), `v${optionalDependencies[nodePackage]}`)
    // npm 10 does not create this link; `prepare` does.
    await rm(join(app, 'node_modules/.bin', process.platform === 'win32' ? 'node.cmd' : 'node'))
    await run('npm', ['run', 'prepare'], options)
    assert.equal(await version(), `v${optionalDependencies[nodePackage]}`)
  })

  test('serves all scripts of the console, and the printed curl command works', async (context) => {
    if (reason !== undefined) return context.skip(reason)
    const url = await start()
    const page = await fetch(`${url}/console/`)
    assert.equal(page.status, 200)
    const assets = [...(await page.text()).matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(
      ([, path]) => path!,
    )
    assert.ok(assets.some((path) => path.endsWith('.js')))
    // Pages are loaded on demand.
    for (const name of readdirSync(join(app, 'web/dist/assets'))) {
      if (/\.(?:js|css)$/.test(name)) assets.push(`/console/assets/${name}`)
    }
    assert.ok(assets.length > 10, 'too few files')
    for (const path of new Set(assets)) {
      const response = await fetch(`${url}${path}`)
      assert.equal(response.status, 200, path)
      await response.arrayBuffer()
    }
    const script = assets.find((path) => /\/base-.*\.js$/.test(path))!
    const compressed = await fetch(`${url}${script}`, { headers: { 'accept-encoding': 'br' } })
    assert.equal(compressed.headers.get('content-encoding'), 'br')
    await compressed.arrayBuffer()

    const line = /^ *(curl .*)$/m.exec(output)?.[1]
    assert.ok(line, output)
    const { stdout } = await run('bash', ['-c', line])
    assert.ok(stdout.includes('"code":0') || stdout.includes('"success":true'), stdout)
  })

  test('passes npm run doctor', async (context) => {
    if (reason !== undefined) return context.skip(reason)
    const url = /is running: (\S+)/.exec(output)![1]!
    const env = { ...environment(), PUBLIC_URL: url }
    const { stdout } = await run('npm', ['run', '--silent', 'doctor', '--', '--json'], { cwd: app, env })
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: { check: string; state: string }[] }
    assert.equal(ok, true, stdout)
    assert.equal(checks.find(({ check }) => check === 'console')?.state, 'ok')
  })

  function start(): Promise<string> {
    const child = spawn('npm', ['start'], { cwd: app, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
    service = child
    return new Promise((resolve, reject) => {
      const append = (part: Buffer) => {
        output += part.toString()
        const url = /is running: (\S+)/.exec(output)?.[1]
        // The curl command is printed with the accounts, after the URL.
        if (url !== undefined && output.includes('shown only once')) resolve(url)
      }
      child.stdout.on('data', append)
      child.stderr.on('data', append)
      child.once('exit', () => reject(new Error(output)))
    })
  }
})
