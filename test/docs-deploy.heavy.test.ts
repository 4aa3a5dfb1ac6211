// Checks the files in deploy/ with the tools that are installed.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { settings } from '../server/config.ts'
import { wrongSettingsExitCode } from '../server/runtime/systemd.ts'
import type { Engine } from '../server/db/database.ts'
import { operationsPages } from '../tools/settings-table.ts'
import { ensureConsole } from './support/console-build.ts'
import { engines } from './support/engines.ts'
import { root } from './support/root.ts'
import { startService } from './support/service.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- parsed YAML and JSON
type Tree = any

const run = promisify(execFile)
const read = (path: string) => readFileSync(join(root, path), 'utf8')

async function isInstalled(command: string, ...args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

/** Loads a package that may not be installed. */
function optionalPackage(name: string): unknown {
  try {
    return createRequire(import.meta.url)(name)
  } catch {
    return undefined
  }
}

describe('deployment files', () => {
  let directory: string
  before(async () => void (directory = await mkdtemp(join(tmpdir(), 'tollgate-deploy-'))))
  // A service that has just ended may still write its compile cache.
  after(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))

  test('the systemd unit is valid and hardened', async (context) => {
    if (!(await isInstalled('systemd-analyze', '--version'))) {
      context.skip('systemd-analyze is not installed')
      return
    }
    const unit = join(directory, 'tollgate.service')
    const text = read('deploy/tollgate.service')
    for (const line of [
      'ExecStart=/opt/tollgate/current/node_modules/.bin/node --max-semi-space-size=16 --expose-gc /opt/tollgate/current/start.js',
      'Type=notify',
      'NotifyAccess=all',
      'ExecReload=/bin/kill -HUP $MAINPID',
      `RestartPreventExitStatus=${wrongSettingsExitCode}`,
      'LogRateLimitIntervalSec=0',
    ]) {
      assert.ok(text.split('\n').includes(line), line)
    }
    // systemd-analyze requires that the executable exists.
    await writeFile(unit, text.replace('/opt/tollgate/current/node_modules/.bin/node', process.execPath))
    const { stderr } = await run('systemd-analyze', ['verify', unit])
    assert.doesNotMatch(stderr, /tollgate\.service/)
    const score = await run('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit]).catch(
      (error: unknown) => error as { stdout: string; code: number },
    )
    assert.match(score.stdout, /Overall exposure level for tollgate.service: [01]\.\d/)
  })

  test('the Dockerfile uses a non-root user, has a health check and copies existing files', () => {
    const text = read('deploy/Dockerfile')
    const final = text.slice(text.lastIndexOf('\nFROM '))
    assert.match(final, /^USER node$/m)
    assert.match(final, /^STOPSIGNAL SIGTERM$/m)
    assert.match(final, /^HEALTHCHECK .*\\\n\s+CMD \["node"/m)
    const program = /CMD \["node", "-e", "([^"]+)"\]/.exec(final)![1]!
    assert.match(program, /readyz/)
    const { scripts, optionalDependencies } = JSON.parse(read('package.json')) as {
      scripts: Record<string, string>
      optionalDependencies: Record<string, string>
    }
    for (const [, script] of text.matchAll(/npm run ([a-z:]+)/g)) assert.ok(scripts[script!], script)
    const pinned = new Set(Object.values(optionalDependencies))
    assert.deepEqual([...pinned], [/^FROM node:([\d.]+)-slim$/m.exec(text)?.[1]], 'the same Node.js version')
    for (const [, line] of text.matchAll(/^COPY (?!--)(.+)$/gm)) {
      for (const path of line!.split(' ').slice(0, -1)) assert.ok(existsSync(join(root, path)), path)
    }
    // The compose file reads deploy/.env, and a pattern without `**` matches only in the root.
    assert.match(read('.dockerignore'), /^\*\*\/\.env$/m)
  })

  test('the service runs with the files of the image', { timeout: 120_000 }, async () => {
    await ensureConsole()
    const text = read('deploy/Dockerfile')
    const image = join(directory, 'app')
    for (const [, line] of text.matchAll(/^COPY (.+)$/gm)) {
      const args = line!.split(' ')
      const target = args.pop()!
      for (const source of args) {
        // As in Docker, a target that ends with a slash is a folder.
        const destination = target.endsWith('/') ? join(image, target, basename(source)) : join(image, target)
        await cp(join(root, source), destination, { recursive: true })
      }
    }
    await symlink(join(root, 'node_modules'), join(image, 'node_modules'))
    await run(process.execPath, ['tools/prepare.js'], { cwd: image })
    const data = join(directory, 'data')
    const env = { PATH: process.env['PATH'], PORT: '0', DATA_DIR: data }
    const child = spawn(process.execPath, ['start.js'], { cwd: image, env })
    try {
      const url = await new Promise<string>((resolveUrl, reject) => {
        let output = ''
        const append = (part: Buffer) => {
          output += part.toString()
          const found = /is running: (\S+)/.exec(output)
          if (found) resolveUrl(found[1]!)
        }
        child.stdout.on('data', append)
        child.stderr.on('data', append)
        child.once('exit', () => reject(new Error(output)))
      })
      for (const path of ['/readyz', '/docs/', '/openapi.json', '/console/']) {
        assert.equal((await fetch(`${url}${path}`)).status, 200, path)
      }
      const args = ['start.js', 'cli/admin.ts', 'ledger', 'check', '--json']
      const { stdout } = await run(process.execPath, args, { cwd: image, env })
      assert.equal((JSON.parse(stdout) as { ok: boolean }).ok, true)
    } finally {
      child.kill('SIGTERM')
    }
  })

  test('the health check of the image passes only with a running service', async () => {
    const program = /CMD \["node", "-e", "([^"]+)"\]/.exec(read('deploy/Dockerfile'))![1]!
    await using service = await startService('sqlite')
    const check = (port: string) =>
      run(process.execPath, ['-e', program], { env: { PORT: port } }).then(
        () => 0,
        (error: unknown) => (error as { code: number }).code,
      )
    assert.equal(await check(new URL(service.url).port), 0)
    assert.equal(await check('9'), 1)
  })

  test('the compose file and the alert rules are valid YAML with existing settings', (context) => {
    for (const [, name] of read('deploy/compose.yaml').matchAll(/^ {6}([A-Z_]+):/gm)) {
      assert.ok(Object.hasOwn(settings, name!) || /^POSTGRES_|^TZ$/.test(name!), name)
    }
    const yaml = optionalPackage('yaml') as
      | { parse: (text: string, options?: { logLevel: 'silent' }) => Tree }
      | undefined
    if (!yaml) {
      context.diagnostic('the package yaml is not installed: not parsed')
      return
    }
    const compose = yaml.parse(read('deploy/compose.yaml'))
    assert.deepEqual(Object.keys(compose.services), ['tollgate', 'postgres'])
    assert.equal(resolve(root, 'deploy', compose.services.tollgate.build.context), root)
    assert.ok(existsSync(join(root, compose.services.tollgate.build.dockerfile)))
    const withCaddy = yaml.parse(read('deploy/compose.caddy.yaml'), { logLevel: 'silent' })
    assert.deepEqual(Object.keys(withCaddy.services), ['network', 'tollgate', 'caddy'])
    // A container that owns the network of another one takes it along when it restarts.
    for (const name of ['tollgate', 'caddy'])
      assert.equal(withCaddy.services[name].network_mode, 'service:network', name)
    for (const port of compose.services.tollgate.ports)
      assert.ok(withCaddy.services.network.ports.includes(port), port)
    for (const name of Object.keys(withCaddy.services.tollgate.environment))
      assert.ok(Object.hasOwn(settings, name), name)
    const [configuration] = withCaddy.services.caddy.volumes[0].split(':')
    assert.ok(existsSync(resolve(root, 'deploy', configuration)))
    const { groups } = yaml.parse(read('deploy/alerts.yml'))
    const pages = readFileSync(operationsPages.zh, 'utf8')
    for (const rule of groups[0].rules) {
      assert.match(rule.alert, /^Tollgate[A-Z]\w+$/)
      assert.equal(typeof rule.expr, 'string')
      assert.ok(['page', 'ticket'].includes(rule.labels.severity))
      const anchor = /^docs\/operations\.md#([\w-]+)$/.exec(rule.annotations.runbook)![1]!
      assert.ok(pages.includes(`<a id="${anchor}"></a>`), anchor)
    }
  })

  test('the public CI runs .ci/run on Linux x64, Linux arm64 and macOS', (context) => {
    const yaml = optionalPackage('yaml') as { parse: (text: string) => Tree } | undefined
    if (!yaml) {
      context.skip('the package yaml is not installed')
      return
    }
    const { jobs } = yaml.parse(read('.github/workflows/ci.yml'))
    assert.deepEqual(jobs.test.strategy.matrix.os, ['ubuntu-latest', 'ubuntu-24.04-arm', 'macos-latest'])
    const steps: Tree[] = jobs.test.steps
    assert.deepEqual(
      steps.flatMap((step) => step.run ?? []),
      ['bash .ci/run'],
    )
    assert.ok(existsSync(join(root, '.ci/run')))
    const node = steps.find((step) => String(step.uses).startsWith('actions/setup-node@'))
    assert.ok(node.with['node-version'] >= 24)
  })

  test('promtool accepts the alert rules', async (context) => {
    if (!(await isInstalled('promtool', '--version'))) {
      context.skip('promtool is not installed')
      return
    }
    const { stdout } = await run('promtool', ['check', 'rules', join(root, 'deploy', 'alerts.yml')])
    assert.match(stdout, /SUCCESS: \d+ rules found/)
  })

  test('all metrics and labels in alert rules and dashboard exist', async () => {
    const dashboard = JSON.parse(read('deploy/grafana-dashboard.json'))
    const expressions: string[] = dashboard.panels.flatMap((panel: Tree) =>
      panel.targets.map((target: Tree) => target.expr),
    )
    expressions.push(
      ...[...read('deploy/alerts.yml').matchAll(/expr: (?:\|\n)?([\s\S]*?)\n {8}(?:for|labels):/g)].map(
        ([, expression]) => expression!,
      ),
    )
    assert.ok(expressions.length > 25)
    // Some metrics exist only if there can be several processes.
    const metrics = (await Promise.all(engines.map(readQuietMetrics))).join('\n')
    const sources = labelsInSource()
    const used = new Set<string>()
    for (const expression of expressions) {
      const names: string[] = []
      for (const [whole, name, selector] of expression.matchAll(
        /\b((?:tollgate|process|nodejs)_[a-z0-9_]+)(\{[^}]*\})?/g,
      )) {
        const base = name!.replace(/_(bucket|sum|count)$/, '')
        used.add(base)
        names.push(base)
        assert.match(metrics, new RegExp(`^# TYPE ${base} `, 'm'), whole)
        // Without a series a query has no data, and the first increase is not seen. Payments have series by provider.
        if (!base.startsWith('tollgate_payment_'))
          assert.match(metrics, new RegExp(`^${name}[{ ]`, 'm'), `${name} of a service without calls`)
        for (const [, label] of (selector ?? '').matchAll(/([a-z_]+)(?:=~|!~|!=|=)/g)) {
          assert.ok(
            label === 'instance' || label === 'job' || sources.get(base)?.includes(label!),
            `${base} ${label}`,
          )
        }
      }
      const [, grouped = ''] = /by \(([a-z_, ]+)\)/.exec(expression) ?? []
      const labels = grouped
        .split(', ')
        .filter((label) => label !== '' && label !== 'le' && label !== 'instance')
      for (const label of labels) {
        assert.ok(
          names.every((name) => sources.get(name)?.includes(label)),
          `${expression}: ${label}`,
        )
      }
    }
    const defined = [...metrics.matchAll(/^# TYPE (tollgate_\w+) /gm)].map(([, name]) => name!)
    const unused = [...new Set(defined)].filter(
      (name) => !used.has(name) && name !== 'tollgate_domain_gateway_calls',
    )
    assert.deepEqual(unused, [], 'metrics that are not used')
  })
})

async function readQuietMetrics(engine: Engine): Promise<string> {
  await using service = await startService(engine)
  return await (await fetch(`${service.url}/metrics`)).text()
}

/** Reads the labels of each metric from the source. */
function labelsInSource(): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const file of readdirSync(join(root, 'server'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue
    const text = read(join('server', file))
    for (const [, name, rest] of text.matchAll(/name: '(tollgate_\w+)',([\s\S]{0,300}?)registers\b/g)) {
      const [, labels = ''] = /labelNames: \[([^\]]*)\]/.exec(rest!) ?? []
      found.set(
        name!,
        labels
          .replaceAll("'", '')
          .split(',')
          .map((label) => label.trim()),
      )
    }
  }
  return found
}
