// An import of 100,000 links from a CSV file: how long it takes, and what another account notices of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { linkImportRoutes } from '../contract/console/link-import.ts'
import type { LinkImport } from '../contract/console/responses/link-import.ts'
import { importLimits } from '../contract/link-import.ts'
import { type Browser, createBrowser } from '../test/support/console.ts'
import { runLoads } from './load.ts'
import type { Measured } from './measure.ts'
import { paidCalls } from './paid-calls.ts'
import { cpuMsOf, type Running, startServer } from './processes.ts'
import type { Part } from './report.ts'
import { type BenchStorage, createPayer, onEngines, type Payer } from './storage.ts'

const maxSeconds = 60

export const importBench = (part: Part) =>
  onEngines(part, async (storage) => {
    const neighbour = await createPayer(storage.open, 'neighbour')
    const service = await startServer({ ...storage.environment, LOG_LEVEL: 'warn' })
    try {
      const browser = createBrowser(service)
      await browser.signIn(storage.payer.username, storage.payer.password)
      const rows = part.scale.count(importLimits.rows)
      await measureTime(part, storage, { service, browser, rows })
      await measureNeighbour(part, storage, { service, browser, rows, neighbour })
    } finally {
      await service.end()
    }
  })

interface ImportScene {
  readonly service: Running
  readonly browser: Browser
  readonly rows: number
}

async function measureTime(part: Part, { name: engine }: BenchStorage, scene: ImportScene): Promise<void> {
  const { service, rows } = scene
  const cpuBefore = cpuMsOf(service.pid)
  const startedAt = performance.now()
  const id = await upload(scene)
  const uploadedAt = performance.now()
  await untilState(scene, id, 'checked')
  const checkedAt = performance.now()
  await scene.browser.call(linkImportRoutes.start, { parts: { id } })
  await untilState(scene, id, 'finished')
  const endedAt = performance.now()
  const cpuAfter = cpuMsOf(service.pid)
  const seconds = (from: number, to: number) => (to - from) / 1000
  const same = { engine, workers: 1, unit: 's' }
  const of = `import of ${rows.toLocaleString('en-US')} rows`
  part.row({ ...same, name: `${of}: upload`, value: seconds(startedAt, uploadedAt) })
  part.row({ ...same, name: `${of}: dry run`, value: seconds(uploadedAt, checkedAt) })
  part.row({ ...same, name: `${of}: charged and created`, value: seconds(checkedAt, endedAt) })
  const all = seconds(startedAt, endedAt)
  part.row({
    ...same,
    name: `${of}: all`,
    value: all,
    expected: [{ text: `≤ ${maxSeconds} s`, met: all <= maxSeconds }],
    ...(cpuBefore !== undefined &&
      cpuAfter !== undefined && { cpuMicros: Math.round(((cpuAfter - cpuBefore) * 1000) / rows) }),
    note: 'cpu a row',
  })
}

/** The same calls of another account before and during the creation of the links. */
async function measureNeighbour(
  part: Part,
  { name: engine }: BenchStorage,
  scene: ImportScene & { readonly neighbour: Payer },
): Promise<void> {
  const { path, body } = paidCalls.generate
  const measure = async (): Promise<Measured> => {
    const [measured] = await runLoads([
      {
        url: scene.service.url,
        seconds: part.scale.seconds,
        connections: 4,
        pauseMs: 5,
        method: 'POST',
        paths: [path],
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body(scene.neighbour)),
        status: 200,
      },
    ])
    return measured!
  }
  const id = await upload(scene)
  await untilState(scene, id, 'checked')
  const alone = await measure()
  await scene.browser.call(linkImportRoutes.start, { parts: { id } })
  const beside = await measure()
  const { done } = await show(scene, id)
  await untilState(scene, id, 'finished')
  part.row({ name: 'generate of another account, no import', engine, workers: 1, ...alone })
  part.row({
    name: 'generate of another account, during an import',
    engine,
    workers: 1,
    ...beside,
    ratio: beside.p50 / alone.p50,
    ratioTo: 'p50 without',
    note: `${done} rows were created meanwhile`,
  })
}

async function upload({ browser, rows }: ImportScene): Promise<number> {
  const lines = Array.from({ length: rows }, (_one, index) => `https://example.com/p/${index},title ${index}`)
  const reply = await browser.call(linkImportRoutes.upload, {
    query: { name: 'bench.csv', codes: 'new', tag: 'bench' },
    file: `url,title\n${lines.join('\n')}`,
  })
  if (reply.status !== 200) throw new Error(`the upload returned ${reply.status}`)
  return (reply.body as { id: number }).id
}

async function show({ browser }: ImportScene, id: number): Promise<LinkImport> {
  return (await browser.call(linkImportRoutes.one, { parts: { id } })).body as LinkImport
}

async function untilState(scene: ImportScene, id: number, wanted: string): Promise<void> {
  for (;;) {
    const { state } = await show(scene, id)
    if (state === wanted) return
    if (state === 'paused') throw new Error('the import was paused')
    await sleep(50)
  }
}
