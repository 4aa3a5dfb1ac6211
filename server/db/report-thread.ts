// The thread that reads for the console, over its own connection to the SQLite file.
import { parentPort, workerData } from 'node:worker_threads'
import type { Value } from './database.ts'
import { openConnection } from './sqlite-connection.ts'

export interface ReportRequest {
  readonly id: number
  readonly sql: string
  readonly values: readonly Value[]
}

export interface ReportResponse {
  readonly id: number
  readonly rows?: readonly unknown[]
  readonly error?: string
}

const connection = openConnection(workerData as string, 2_000)
connection.db.exec('PRAGMA query_only = ON')

parentPort?.on('message', ({ id, sql, values }: ReportRequest) => {
  let response: ReportResponse
  try {
    response = { id, rows: connection.all(sql, values) }
  } catch (error) {
    response = { id, error: error instanceof Error ? error.message : String(error) }
  }
  parentPort?.postMessage(response)
})
