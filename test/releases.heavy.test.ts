// A running service and its files on disk: a new release, and files that are replaced.
import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import { emptyStorage } from './support/engines.ts'
import { root } from './support/root.ts'
import {
  keyOf,
  skipWithoutProcFs,
  startUntilEnd,
  until,
  untilLogged,
  workersOf,
} from './support/running-service.ts'
import { get, post } from './support/service.ts'

describe('releases', () => {
  let directory: string
  before(async () => void (directory = await mkdtemp(join(tmpdir(), 'tollgate-releases-'))))
  after(() => rm(directory, { recursive: true, force: true }))

  it(
    'a reload runs the release that the link points to, a crash does not change the release',
    { timeout: 180_000, skip: skipWithoutProcFs },
    async (t) => {
      const current = join(directory, 'current')
      const release = (name: string) => join(directory, name)
      for (const name of ['one', 'two']) await copyService(release(name))
      await symlink(release('one'), current)
      const service = await startUntilEnd(
        t,
        { WORKERS: '2', DATA_DIR: join(directory, 'data') },
        { directory, script: join(current, 'start.js') },
      )
      await symlink(release('two'), `${current}.new`)
      await rename(`${current}.new`, current)
      const releasesOf = async () =>
        Promise.all(
          (await workersOf(service)).map(async (pid) => {
            // Empty if the process has ended meanwhile.
            const [, script = ''] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split(
              '\0',
            )
            return script
          }),
        )
      const [first] = await workersOf(service)
      process.kill(first!, 'SIGKILL')
      await until(async () => {
        const pids = await workersOf(service)
        // A process that was just forked still has the command line of its parent.
        const started = (await releasesOf()).filter(
          (script) => script !== '' && script !== join(current, 'start.js'),
        )
        return pids.length === 2 && started.length === 2 && !pids.includes(first!)
      })
      assert.deepEqual(new Set(await releasesOf()), new Set([join(release('one'), 'start.js')]))
      service.child.kill('SIGHUP')
      await untilLogged(service, '"reloaded"')
      await until(async () => (await workersOf(service)).length === 2)
      assert.deepEqual(new Set(await releasesOf()), new Set([join(release('two'), 'start.js')]))
      assert.equal(await service.kill('SIGTERM'), 0)
    },
  )

  it('replaced files do not affect a running service', { timeout: 180_000 }, async (t) => {
    const app = join(directory, 'replaced')
    await copyService(app)
    const storage = await emptyStorage('sqlite')
    const service = await startUntilEnd(
      t,
      { LOG_LEVEL: 'debug', TRUSTED_PROXIES: '127.0.0.1', ...storage.environment },
      { directory: app },
    )
    await untilLogged(service, 'click thread loaded')
    await rename(app, `${app}.away`)
    const key = keyOf(service)
    const password = /demo {2}(\S+)/.exec(service.output())![1]!
    const call = { username: 'demo', api_key: key }
    const generate = { ...call, action: 'generate', target_url: 'https://example.com/', title: 't' }
    const created = await post(`${service.url}${shortlink.path}`, generate)
    assert.equal(created.status, 200)
    const code = created.body.data.short_code
    const visitor = {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36',
      // A public address: its place is looked up in a package that is no longer there.
      'x-forwarded-for': '114.114.114.114',
    }
    for (let count = 0; count < 5; count += 1) {
      const visit = await fetch(`${service.url}/${code}`, { redirect: 'manual', headers: visitor })
      assert.equal(visit.status, 302)
    }
    // A thread counts the clicks.
    await until(async () => {
      const found = await post(`${service.url}${shortlink.path}`, {
        ...call,
        action: 'get',
        short_code: code,
      })
      return found.body.data.clicks + found.body.data.bot_clicks === 5
    })
    const calls = [
      [sms.path, { action: 'send_sms', phone_number: '13800138000', template_code: 'x' }, 404],
      ['/api/id_verification_api.php', { name: '张三', idcard: '11010519491231002X' }, 200],
      ['/api/video_platform_check.php', { urls: ['example.com'] }, 200],
    ] as const
    for (const [path, values, status] of calls)
      assert.equal((await post(`${service.url}${path}`, { ...call, ...values })).status, status, path)
    const form = new FormData()
    for (const [name, value] of Object.entries({ ...call, action: 'get_credits' })) form.append(name, value)
    const multipart = await fetch(`${service.url}${sms.path}`, { method: 'POST', body: form })
    assert.equal(multipart.status, 200)
    for (const path of ['/', '/docs/', '/docs/en/', '/openapi.json', '/metrics', '/readyz'])
      assert.equal((await fetch(`${service.url}${path}`)).status, 200, path)
    const signIn = await post(
      `${service.url}/console/api/sign-in`,
      { username: 'demo', password },
      { origin: service.url },
    )
    assert.equal(signIn.status, 200, JSON.stringify(signIn.body))
    const cookie = signIn.headers.getSetCookie().map((line) => line.split(';')[0])
    for (const path of ['/console/api/links', '/console/api/credits/ledger', '/console/api/home']) {
      const page = await get(`${service.url}${path}`, { cookie: cookie.join('; ') })
      assert.equal(page.status, 200, path)
    }
    assert.equal((await get(`${service.url}/livez`)).status, 200)
    assert.equal(await service.kill('SIGTERM'), 0)
    assert.doesNotMatch(service.output(), /"level":[56]0|ENOENT|ERR_MODULE/)
    await storage.remove()
  })
})

/** Copies what a release contains. The packages are a link. */
async function copyService(target: string): Promise<void> {
  await mkdir(target)
  for (const entry of ['start.js', 'package.json', 'contract', 'server', 'cli', 'web/dist']) {
    await cp(join(root, entry), join(target, entry), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(target, 'node_modules'))
}
