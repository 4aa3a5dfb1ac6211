// `generate` per second beside a bare handler that parses the same JSON and answers as many bytes, in alternating rounds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount, resetKey } from '../server/accounts/accounts.ts'
import { openCredits } from '../server/credits/credits.ts'
import { readConfig } from '../server/config.ts'
import { openInstallation } from '../server/installation.ts'
import { hasWrk, type Load, putLoad } from './load.ts'
import { type Measured, printRow } from './measure.ts'
import { median, startBare, startServer } from './processes.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3)
const path = '/api/shortlink_api.php'

export async function generateBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  try {
    const account = await makeAccount(directory)
    const service = await startServer({ DATA_DIR: directory })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({
      ...account,
      action: 'generate',
      target_url: 'https://example.com/landing?from=bench',
      title: 'benchmark',
    })
    const answer = await fetch(service.url + path, { method: 'POST', headers, body })
    const bytes = (await answer.text()).length
    const bare = await startBare('json', String(bytes))
    const load = { seconds, method: 'POST', paths: [path], headers, body, status: 200 } satisfies Omit<
      Load,
      'url'
    >

    process.stdout.write(`generate, 64 connections, ${hasWrk() ? 'wrk' : 'node sockets'}, ${rounds} rounds\n`)
    const results: { bare: Measured; service: Measured }[] = []
    for (let round = 0; round < rounds; round += 1) {
      const limit = await putLoad({ ...load, url: bare.url })
      results.push({ bare: limit, service: await putLoad({ ...load, url: service.url }) })
    }
    const middle = (of: 'bare' | 'service'): Measured => ({
      perSecond: median(results.map((one) => one[of].perSecond)),
      p50: median(results.map((one) => one[of].p50)),
      p99: median(results.map((one) => one[of].p99)),
    })
    printRow('bare handler, same JSON, same size', middle('bare'))
    const ratio = median(results.map((one) => one.service.perSecond / one.bare.perSecond))
    printRow('service, durable', middle('service'), `${ratio.toFixed(2)} × bare`)
    await bare.end()
    await service.end()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function makeAccount(directory: string): Promise<{ username: string; api_key: string }> {
  const { db, secretKey, close } = await openInstallation(readConfig({ DATA_DIR: directory }))
  const account = await createAccount(db, { username: 'bench' })
  await openCredits(db, secretKey).grant({
    accountId: account.id,
    apiType: 'short_link',
    amount: 1_000_000_000,
  })
  const key = await resetKey(db, account.id)
  await close()
  return { username: account.username, api_key: key }
}
