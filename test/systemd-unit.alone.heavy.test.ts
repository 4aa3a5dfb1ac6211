// The shipped unit under a real systemd: start, sandbox, reload, restart after a crash, a wrong setting, stop.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { shortlink } from '../contract/shortlink.ts'
import { wrongSettingsExitCode } from '../server/runtime/systemd.ts'
import { root } from './support/root.ts'
import { freePort, post } from './support/service.ts'
import { bootSystemd, type Systemd, systemdProblem } from './support/systemd.ts'
import { until } from './support/until.ts'

const unit = readFileSync(join(root, 'deploy/tollgate.service'), 'utf8')

describe('the systemd unit', { skip: systemdProblem() ?? false, timeout: 300_000 }, () => {
  let systemd: Systemd | undefined
  let refusal = ''
  let url = ''
  const settings: Record<string, string> = { DATA_DIR: '/var/lib/tollgate' }

  async function run(command: string): Promise<string> {
    const { code, stdout, stderr } = await systemd!.run(command)
    assert.equal(code, 0, `${command}: ${stderr}`)
    return stdout.trim()
  }

  const writeFile = (path: string, text: string) =>
    run(`printf %s '${Buffer.from(text).toString('base64')}' | base64 -d > ${path}`)

  const writeSettings = (changed: Readonly<Record<string, string>> = {}) =>
    writeFile(
      '/etc/tollgate/env',
      Object.entries({ ...settings, ...changed })
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )

  async function show(...names: string[]): Promise<Record<string, string>> {
    const text = await run(`systemctl show tollgate ${names.map((name) => `-p ${name}`).join(' ')}`)
    return Object.fromEntries(text.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)))
  }

  const childrenOf = async (pid: string | undefined) =>
    (await run(`cat /proc/${pid}/task/${pid}/children`)).split(' ')

  before(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    settings['PORT'] = String(port)
    systemd = await bootSystemd(root).catch((error: unknown) => {
      refusal = String(error)
      return undefined
    })
    if (!systemd) return
    // As the comment of the unit and the operations page say.
    await run(
      'useradd --system --create-home --home-dir /var/lib/tollgate --shell /usr/sbin/nologin tollgate',
    )
    await run('ln -sfn releases/test /opt/tollgate/current && install -d /etc/tollgate')
    await writeSettings()
    await run('chown root:tollgate /etc/tollgate/env && chmod 640 /etc/tollgate/env')
    await run('ln -s /etc/tollgate/env /opt/tollgate/.env')
    await writeFile('/etc/systemd/system/tollgate.service', unit)
    await run('systemctl daemon-reload')
  })
  after(() => systemd?.[Symbol.asyncDispose]())

  it('starts when the service is ready, and everything works inside the sandbox', async (context) => {
    if (!systemd) return context.skip(refusal)
    await run('systemctl start tollgate')
    assert.deepEqual(await show('ActiveState', 'SubState', 'NRestarts'), {
      ActiveState: 'active',
      SubState: 'running',
      NRestarts: '0',
    })
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    assert.equal(await run('stat -c "%U %a" /var/lib/tollgate/first-logins.txt'), 'tollgate 600')
    const logins = await run('cat /var/lib/tollgate/first-logins.txt')
    const key = /tg_\w+/.exec(logins)?.[0] ?? assert.fail(logins)
    const journal = await run('journalctl -u tollgate -o cat')
    assert.ok(journal.includes('first-logins.txt') && !journal.includes(key), journal)
    const call = {
      username: 'demo',
      api_key: key,
      action: 'generate',
      target_url: 'https://example.com/',
      title: 't',
    }
    const created = await post(`${url}${shortlink.path}`, call)
    assert.equal(created.status, 200, JSON.stringify(created.body))
    assert.equal((await fetch(created.body.data.a_url as string, { redirect: 'manual' })).status, 302)
    assert.equal((await fetch(`${url}/console/`)).status, 200)
    const errors = (await run('journalctl -u tollgate -o cat'))
      .split('\n')
      .filter((line) => /"level":(50|60)/.test(line))
    assert.deepEqual(errors, [])
  })

  it('starts again after kill -9, with the settings that are there now; reload replaces the workers; stop is clean', async (context) => {
    if (!systemd) return context.skip(refusal)
    await writeSettings({ WORKERS: '2' })
    await run('systemctl kill --kill-whom=main --signal=SIGKILL tollgate')
    await until(async () => {
      const { ActiveState, NRestarts } = await show('ActiveState', 'NRestarts')
      return ActiveState === 'active' && NRestarts === '1'
    }, 120_000)
    const { MainPID } = await show('MainPID')
    const old = await childrenOf(MainPID)
    assert.ok(old.length >= 2, `${old.length} workers`)
    await run('systemctl reload tollgate')
    await until(async () => {
      const current = await childrenOf(MainPID)
      return current.length >= 2 && !current.some((pid) => old.includes(pid))
    }, 120_000)
    await until(async () => (await show('SubState'))['SubState'] === 'running', 120_000)
    assert.deepEqual(await show('ActiveState', 'MainPID', 'NRestarts'), {
      ActiveState: 'active',
      MainPID,
      NRestarts: '1',
    })
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    await run('systemctl stop tollgate')
    assert.deepEqual(await show('ActiveState', 'Result', 'ExecMainStatus'), {
      ActiveState: 'inactive',
      Result: 'success',
      ExecMainStatus: '0',
    })
  })

  it('a wrong setting ends it with 78 and one line, and systemd does not try again', async (context) => {
    if (!systemd) return context.skip(refusal)
    await writeSettings({ RATE_LIMIT: 'often' })
    const started = await systemd.run('systemctl start tollgate')
    assert.notEqual(started.code, 0)
    assert.deepEqual(await show('ActiveState', 'Result', 'ExecMainStatus', 'NRestarts'), {
      ActiveState: 'failed',
      Result: 'exit-code',
      ExecMainStatus: String(wrongSettingsExitCode),
      NRestarts: '0',
    })
    assert.match(await run('journalctl -u tollgate -o cat -n 5'), /RATE_LIMIT/)
  })
})
