// Messages to systemd arrive in the order in which they were sent, although a program of its own sends each.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { notifySystemd } from './systemd.ts'

it(
  'the end of a reload that fails at once does not overtake its begin',
  { skip: process.platform === 'win32' },
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-notify-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    const sent = join(directory, 'sent')
    const program = join(directory, 'systemd-notify')
    await writeFile(program, `#!/bin/sh\ncase "$1" in RELOADING*) sleep 0.5;; esac\necho "$@" >> '${sent}'\n`)
    await chmod(program, 0o700)
    const { PATH, NOTIFY_SOCKET } = process.env
    t.after(() => {
      process.env['PATH'] = PATH
      if (NOTIFY_SOCKET === undefined) delete process.env['NOTIFY_SOCKET']
    })
    process.env['PATH'] = `${directory}${delimiter}${PATH}`
    process.env['NOTIFY_SOCKET'] = join(directory, 'notify')

    const log = pino({ enabled: false })
    notifySystemd(log, 'RELOADING=1', 'MONOTONIC_USEC=1')
    notifySystemd(log, 'READY=1')
    const lines = async () => (await readFile(sent, 'utf8').catch(() => '')).split('\n').filter(Boolean)
    while ((await lines()).length < 2) await sleep(20)
    assert.deepEqual(await lines(), ['RELOADING=1 MONOTONIC_USEC=1', 'READY=1'])
  },
)
