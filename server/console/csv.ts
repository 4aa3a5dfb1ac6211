// Streams a CSV file: the heading, then the rows one page at a time.
import { Readable } from 'node:stream'
import { type CsvCell, csvLine, formatCsv } from '../../contract/csv.ts'
import { formatTime } from '../../contract/time.ts'

type CsvPages = AsyncIterable<readonly (readonly CsvCell[])[]>

export function csvStream(heading: readonly string[], pages: CsvPages): Readable {
  return Readable.from(csvChunks(heading, pages), { objectMode: false })
}

async function* csvChunks(heading: readonly string[], pages: CsvPages): AsyncGenerator<string> {
  yield formatCsv([heading])
  for await (const rows of pages) {
    if (rows.length > 0) yield rows.map(csvLine).join('')
  }
}

export function csvTime(ms: number | null): string {
  return ms === null ? '' : formatTime(ms)
}
