// Faults beneath the service: the database killed, its standby promoted, the disk full, the clock set forward and back.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../server/db/database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import type { Fault } from './fault.ts'
import { openSwitchboard } from './switchboard.ts'
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from './tmpfs.ts'
import { emptyDatabase, faultCluster, openWorld, runSql, type World } from './world.ts'

const both = ['sqlite', 'postgres'] as const

const killDatabase: Fault = {
  name: 'kill-database',
  text: 'kill -9 of PostgreSQL and all its children, again and again',
  engines: ['postgres'],
  rounds: { long: 10, short: 2 },
  shortOn: ['postgres'],
  async run(ground, check) {
    const cluster = await faultCluster()
    const databaseUrl = await emptyDatabase(cluster.url)
    await using world = await openWorld({ ...ground, processes: 2, databaseUrl })
    // What the suite itself has prepared is not at stake, not even on a server that loses on purpose.
    await runSql(cluster.url, 'CHECKPOINT')
    const load = world.startLoad()
    await world.recovery(performance.now())
    const recoveries: number[] = []
    for (let round = 0; round < ground.rounds; round += 1) {
      await sleep(world.random.between(300, 900))
      await cluster.kill()
      const deadSince = performance.now()
      await sleep(world.random.between(100, 600))
      const deadUntil = performance.now()
      await cluster.restart()
      // Without a restart of the service.
      recoveries.push(await world.recovery(deadUntil))
      noSuccessBetween(world, deadSince, deadUntil)
    }
    await load.stop()
    await check(world, recoveries)
  },
}

function noSuccessBetween(world: World, deadSince: number, deadUntil: number): void {
  const impossible = world.journal.entries.filter(
    ({ fate, startedAt, endedAt = Infinity }) =>
      fate === 'success' && startedAt > deadSince && endedAt < deadUntil,
  )
  if (impossible.length > 0) world.problems.push(`${impossible.length} successes without a database`)
}

const promoted: Fault = {
  name: 'promote',
  text: 'the primary killed under load, its synchronous standby promoted',
  engines: ['postgres'],
  rounds: { long: 4, short: 1 },
  shortOn: ['postgres'],
  async run(ground, check) {
    const servers: PostgresServer[] = []
    try {
      let primary = await startPostgres({ durable: true })
      servers.push(primary)
      await using door = await openSwitchboard(primary.port)
      const databaseUrl = `postgres://postgres@127.0.0.1:${door.port}/postgres`
      await using world = await openWorld({ ...ground, processes: 2, databaseUrl })
      const load = world.startLoad()
      const recoveries: number[] = []
      for (let round = 0; round < ground.rounds; round += 1) {
        const standby = await startPostgres({ durable: true, standbyOf: primary })
        servers.push(standby)
        await waitForStandby(primary)
        await world.recovery(performance.now())
        await sleep(world.random.between(300, 1_200))
        const since = performance.now()
        await primary.kill()
        await runSql(standby.url, 'SELECT pg_promote(true, 60)')
        door.turnTo(standby.port)
        recoveries.push(await world.recovery(since))
        primary = standby
      }
      await load.stop()
      await check(world, recoveries)
    } finally {
      // A standby runs on the files of the first one's package.
      for (const server of servers.toReversed()) await server.stop()
    }
  },
}

/** From here on a commit is answered only when the standby has it on disk. */
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
  text: 'the disk full under load, then room is made',
  engines: both,
  rounds: { long: 4, short: 1 },
  shortOn: ['sqlite'],
  impossible: whyNoSmallDisk,
  async run(ground, check) {
    using disk = mountSmallDisk(ground.engine === 'sqlite' ? 16 : 600)
    const cluster =
      ground.engine === 'sqlite' ? undefined : await startPostgres({ durable: true, folder: disk.folder })
    try {
      await using world = await openWorld({
        ...ground,
        processes: 1,
        databaseUrl: cluster && (await emptyDatabase(cluster.url)),
        ...(cluster ? {} : { dataDir: join(disk.folder, 'data') }),
      })
      const load = world.startLoad()
      await world.recovery(performance.now())
      const recoveries: number[] = []
      for (let round = 0; round < ground.rounds; round += 1) {
        await fillUntilFelt(world, disk)
        const since = performance.now()
        disk.makeRoom()
        if (cluster) await restartIfGone(cluster)
        recoveries.push(await world.recovery(since))
        await sleep(500)
      }
      await load.stop()
      await check(world, recoveries)
    } finally {
      await cluster?.stop()
    }
  },
}

/** Until calls fail: the engines have room of their own left in files they hold already. */
async function fillUntilFelt(world: World, disk: SmallDisk): Promise<void> {
  const since = performance.now()
  const giveUpAt = since + 60_000
  while (performance.now() < giveUpAt) {
    disk.fill()
    await sleep(50)
    const failed = world.journal.entries.filter(
      ({ fate, startedAt }) => fate === 'unknown' && startedAt > since,
    )
    if (failed.length >= 10) return
  }
  world.problems.push('the full disk was never felt')
}

/** PostgreSQL ends itself when its WAL has no room; making room and starting it again is the operator's part. */
async function restartIfGone(cluster: PostgresServer): Promise<void> {
  const answers = await runSql(cluster.url, 'SELECT 1').catch(() => undefined)
  if (!answers) await cluster.restart()
}

const library = findFaketime()

const clock: Fault = {
  name: 'clock',
  text: `the service's clock set 30 days forward and back, with rate limits on`,
  engines: both,
  rounds: { long: 6, short: 2 },
  shortOn: ['sqlite'],
  impossible: () => (library === undefined ? 'libfaketime is not installed' : undefined),
  async run(ground, check) {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-clock-'))
    const file = join(folder, 'offset')
    const setClock = (offset: string): void => writeFileSync(file, `${offset}\n`)
    setClock('+0d')
    try {
      await using world = await openWorld({
        ...ground,
        processes: 1,
        databaseUrl: await databaseFor(ground.engine),
        environment: {
          ...ground.environment,
          RATE_LIMIT: '500,1000',
          LD_PRELOAD: library ?? '',
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          DONT_FAKE_MONOTONIC: '1',
        },
      })
      const load = world.startLoad()
      await world.recovery(performance.now())
      const recoveries: number[] = []
      for (let round = 0; round < ground.rounds; round += 1) {
        for (const offset of [round % 2 === 0 ? '+30d' : '-30d', '+0d']) {
          await sleep(world.random.between(300, 900))
          world.nextEpoch()
          setClock(offset)
          recoveries.push(await world.recovery(performance.now()))
        }
      }
      await load.stop()
      await check(world, recoveries)
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
