// Streams a CSV file: the heading, then the rows one page at a time. Exports take turns by page and pause in between: many at the
// same time would fill the event loop, and paid calls would wait.
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CsvCell, csvLine, formatCsv } from '../../contract/csv.ts'
import { formatTime } from '../../contract/time.ts'
import { createFairQueue } from '../http/fair-queue.ts'

type CsvPage = readonly (readonly CsvCell[])[]
type CsvPages = AsyncIterable<CsvPage, void>

export function csvStream(heading: readonly string[], pages: CsvPages): Readable {
  return Readable.from(csvChunks(heading, pages), { objectMode: false })
}

/** Reading and formatting so many takes the event loop up to three milliseconds. Redirects and paid calls wait meanwhile. */
export const rowsPerCsvPage = 200

/** The rows of a long list. `read` gets the last row of the page before. */
export async function* csvPages<Row>(
  read: (last: Row | undefined, limit: number) => Promise<readonly Row[]>,
  cellsOf: (row: Row) => readonly CsvCell[],
): AsyncGenerator<CsvPage, void> {
  let last: Row | undefined
  do {
    const rows = await read(last, rowsPerCsvPage)
    yield rows.map(cellsOf)
    last = rows.length < rowsPerCsvPage ? undefined : rows.at(-1)
  } while (last !== undefined)
}

/** Every export waits for one page at most, and the number of exports is limited. */
const turns = createFairQueue({ maxRunning: 2, maxWaiting: Number.POSITIVE_INFINITY })

/** A page that waited for the database has used little of the event loop. */
const maxRestMs = 100

async function* csvChunks(heading: readonly string[], pages: CsvPages): AsyncGenerator<string> {
  yield formatCsv([heading])
  const iterator = pages[Symbol.asyncIterator]()
  try {
    for (;;) {
      const text = await turns.run('', () => nextPage(iterator))
      if (text === undefined) return
      if (text !== '') yield text
    }
  } finally {
    await iterator.return?.()
  }
}

async function nextPage(pages: AsyncIterator<CsvPage, void>): Promise<string | undefined> {
  const start = performance.now()
  const page = await pages.next()
  if (page.done === true) return undefined
  const text = page.value.map(csvLine).join('')
  await sleep(Math.min(2 * (performance.now() - start), maxRestMs))
  return text
}

export function csvTime(ms: number | null): string {
  return ms === null ? '' : formatTime(ms)
}
