// Redirects per second beside bare node:http with a Map, in one run, in alternating rounds, click counting on.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount } from '../server/accounts/accounts.ts'
import { migrate } from '../server/db/migrate.ts'
import { openSqlite } from '../server/db/sqlite.ts'
import { makeCode } from '../server/shortlink/code.ts'
import { insertLink } from '../server/shortlink/store.ts'
import { hasWrk, putLoad } from './load.ts'
import { type Measured, printRow } from './measure.ts'
import { median, memoryOf, startBare, startServer } from './processes.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3)
const sizes = (process.env['BENCH_LINKS'] ?? '1000,1000000').split(',').map(Number)

const browser = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
}

export async function redirectBench(): Promise<void> {
  process.stdout.write(`redirect, 64 connections, ${hasWrk() ? 'wrk' : 'node sockets'}, ${rounds} rounds\n`)
  for (const size of sizes) await measureWith(size)
}

async function measureWith(size: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  try {
    const links = await seed(join(directory, 'tollgate.db'), size)
    const file = join(directory, 'map')
    writeFileSync(file, links.map(({ path, target }) => `${path} ${target}`).join('\n'))
    const bare = await startBare('redirect', file)
    const service = await startServer({ DATA_DIR: directory })
    const before = memoryOf(service.pid)
    const some = links.map(({ path }) => path)
    await compare(`${size.toLocaleString('en-US')} links, one hot`, bare.url, service.url, some.slice(0, 1))
    await compare(`${size.toLocaleString('en-US')} links, any at random`, bare.url, service.url, some)
    const after = memoryOf(service.pid)
    process.stdout.write(`${''.padEnd(4)}memory of the service ${before} MB → ${after} MB\n`)
    await bare.end()
    await service.end()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function compare(name: string, bareUrl: string, serviceUrl: string, paths: string[]): Promise<void> {
  const results: { bare: Measured; service: Measured }[] = []
  const measureOne = (url: string) =>
    putLoad({ url, seconds, method: 'GET', paths, headers: browser, status: 302 })
  for (let round = 0; round < rounds; round += 1) {
    const bare = await measureOne(bareUrl)
    results.push({ bare, service: await measureOne(serviceUrl) })
  }
  const middle = (of: 'bare' | 'service', field: keyof Measured) =>
    median(results.map((one) => one[of][field]))
  const all = (of: 'bare' | 'service'): Measured => ({
    perSecond: middle(of, 'perSecond'),
    p50: middle(of, 'p50'),
    p99: middle(of, 'p99'),
  })
  const speed = median(results.map((one) => one.service.perSecond / one.bare.perSecond))
  const tail = median(results.map((one) => one.service.p99 / one.bare.p99))
  printRow(`${name}, bare`, all('bare'))
  printRow(`${name}, service`, all('service'), `${speed.toFixed(2)} × bare, p99 ${tail.toFixed(2)} × bare`)
}

/** Links as `generate` writes them, without the calls around it. */
async function seed(file: string, size: number): Promise<{ path: string; target: string }[]> {
  const db = openSqlite(file)
  await migrate(db)
  const account = await createAccount(db, { username: 'bench' })
  const links: { path: string; target: string }[] = []
  for (let from = 0; from < size; from += 10_000) {
    await db.write(async (tx) => {
      for (let index = from; index < Math.min(size, from + 10_000); index += 1) {
        const target = `https://example.com/landing/${index}?from=bench`
        const { code } = await insertLink(
          tx,
          {
            accountId: account.id,
            title: `link ${index}`,
            targetUrl: target,
            redirectUrlA: '',
            redirectType: 'direct',
            locationA: target,
            locationB: target,
            hosts: { a: '', b: '' },
          },
          makeCode,
        )
        links.push({ path: `/${code}`, target })
      }
    })
  }
  await db.close()
  return links
}
