// Faults of the database, the disk and the clock.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../server/db/database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import type { Fault } from './fault.ts'
import { openTcpProxy } from './tcp-proxy.ts'
import { mountSmallDisk, type SmallDisk, smallDiskProblem } from './tmpfs.ts'
import { emptyDatabase, faultCluster, openTestSystem, runSql, type TestSystem } from './test-system.ts'

const both = ['sqlite', 'postgres'] as const

const killDatabase: Fault = {
  name: 'kill-database',
  text: 'kill -9 of PostgreSQL and all its children, repeatedly',
  engines: ['postgres'],
  rounds: { long: 10, short: 2 },
  shortOn: ['postgres'],
  async run(context, check) {
    const cluster = await faultCluster()
    const databaseUrl = await emptyDatabase(cluster.url)
    await using system = await openTestSystem({ ...context, processes: 2, databaseUrl })
    // Makes the test data durable, even on a server that loses data on purpose.
    await runSql(cluster.url, 'CHECKPOINT')
    const load = system.startLoad()
    await system.recovery(performance.now())
    const recoveries: number[] = []
    for (let round = 0; round < context.rounds; round += 1) {
      await sleep(system.random.between(300, 900))
      await cluster.kill()
      const downSince = performance.now()
      await sleep(system.random.between(100, 600))
      const downUntil = performance.now()
      await cluster.restart()
      // The service is not restarted.
      recoveries.push(await system.recovery(downUntil))
      reportSuccessesBetween(system, downSince, downUntil)
    }
    await load.stop()
    await check(system, recoveries)
  },
}

function reportSuccessesBetween(system: TestSystem, downSince: number, downUntil: number): void {
  const successes = system.journal.entries.filter(
    ({ outcome, startedAt, endedAt = Infinity }) =>
      outcome === 'success' && startedAt > downSince && endedAt < downUntil,
  )
  if (successes.length > 0) system.problems.push(`${successes.length} calls succeeded without a database`)
}

const promoted: Fault = {
  name: 'promote',
  text: 'the primary is killed under load, its synchronous standby promoted',
  engines: ['postgres'],
  rounds: { long: 4, short: 1 },
  shortOn: ['postgres'],
  async run(context, check) {
    const servers: PostgresServer[] = []
    try {
      let primary = await startPostgres({ durable: true })
      servers.push(primary)
      await using proxy = await openTcpProxy(primary.port)
      const databaseUrl = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
      await using system = await openTestSystem({ ...context, processes: 2, databaseUrl })
      const load = system.startLoad()
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        const standby = await startPostgres({ durable: true, standbyOf: primary })
        servers.push(standby)
        await waitForStandby(primary)
        await system.recovery(performance.now())
        await sleep(system.random.between(300, 1_200))
        const since = performance.now()
        await primary.kill()
        await runSql(standby.url, 'SELECT pg_promote(true, 60)')
        proxy.switchTo(standby.port)
        recoveries.push(await system.recovery(since))
        primary = standby
      }
      await load.stop()
      await check(system, recoveries)
    } finally {
      // The standbys use the program files of the first server, so it stops last.
      for (const server of servers.toReversed()) await server.stop()
    }
  },
}

/** Waits until a commit is acknowledged only after the standby has it on disk. */
async function waitForStandby(primary: PostgresServer): Promise<void> {
  await runSql(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await runSql(primary.url, 'SELECT pg_reload_conf()')
  for (;;) {
    const rows = await runSql(primary.url, `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)
    if (rows.length > 0) return
    await sleep(50)
  }
}

const fullDisk: Fault = {
  name: 'disk-full',
  text: 'the disk is filled under load, then freed',
  engines: both,
  rounds: { long: 4, short: 1 },
  shortOn: ['sqlite'],
  skipReason: smallDiskProblem,
  async run(context, check) {
    using disk = mountSmallDisk(context.engine === 'sqlite' ? 16 : 600)
    const cluster =
      context.engine === 'sqlite' ? undefined : await startPostgres({ durable: true, folder: disk.folder })
    try {
      await using system = await openTestSystem({
        ...context,
        processes: 1,
        databaseUrl: cluster && (await emptyDatabase(cluster.url)),
        ...(cluster ? {} : { dataDir: join(disk.folder, 'data') }),
      })
      const load = system.startLoad()
      await system.recovery(performance.now())
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        await fillUntilCallsFail(system, disk)
        const since = performance.now()
        disk.freeSpace()
        if (cluster) await restartIfStopped(cluster)
        recoveries.push(await system.recovery(since))
        await sleep(500)
      }
      await load.stop()
      await check(system, recoveries)
    } finally {
      await cluster?.stop()
    }
  },
}

/** Fills the disk until calls fail: the engines still have free space in their existing files. */
async function fillUntilCallsFail(system: TestSystem, disk: SmallDisk): Promise<void> {
  const since = performance.now()
  const deadline = since + 60_000
  while (performance.now() < deadline) {
    disk.fill()
    await sleep(50)
    const failed = system.journal.entries.filter(
      ({ outcome, startedAt }) => outcome === 'unknown' && startedAt > since,
    )
    if (failed.length >= 10) return
  }
  system.problems.push('no call failed on the full disk')
}

/** PostgreSQL stops when it cannot write its WAL; an operator frees space and starts it again. */
async function restartIfStopped(cluster: PostgresServer): Promise<void> {
  const rows = await runSql(cluster.url, 'SELECT 1').catch(() => undefined)
  if (!rows) await cluster.restart()
}

const library = findFaketime()

const clock: Fault = {
  name: 'clock',
  text: `the service's clock is set 30 days forward and back, with rate limits on`,
  engines: both,
  rounds: { long: 6, short: 2 },
  shortOn: ['sqlite'],
  skipReason: () => (library === undefined ? 'libfaketime is not installed' : undefined),
  async run(context, check) {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-clock-'))
    const file = join(folder, 'offset')
    const setClock = (offset: string): void => writeFileSync(file, `${offset}\n`)
    setClock('+0d')
    try {
      await using system = await openTestSystem({
        ...context,
        processes: 1,
        databaseUrl: await databaseFor(context.engine),
        environment: {
          ...context.environment,
          RATE_LIMIT: '500,1000',
          LD_PRELOAD: library ?? '',
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          DONT_FAKE_MONOTONIC: '1',
        },
      })
      const load = system.startLoad()
      await system.recovery(performance.now())
      const recoveries: number[] = []
      for (let round = 0; round < context.rounds; round += 1) {
        for (const offset of [round % 2 === 0 ? '+30d' : '-30d', '+0d']) {
          await sleep(system.random.between(300, 900))
          system.nextEpoch()
          setClock(offset)
          recoveries.push(await system.recovery(performance.now()))
        }
      }
      await load.stop()
      await check(system, recoveries)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function databaseFor(engine: Engine): Promise<string | undefined> {
  return engine === 'postgres' ? emptyDatabase((await faultCluster()).url) : undefined
}

function findFaketime(): string | undefined {
  if (process.platform !== 'linux') return undefined
  const folders = ['/usr/lib/faketime', ...list('/usr/lib').map((name) => join('/usr/lib', name, 'faketime'))]
  const folder = folders.find((one) => list(one).includes('libfaketimeMT.so.1'))
  return folder && join(folder, 'libfaketimeMT.so.1')
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export const storageFaults: readonly Fault[] = [killDatabase, promoted, fullDisk, clock]
