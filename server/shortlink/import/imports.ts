// Imports of links: the file is read during the upload, its rows are checked in a dry run and then created in charged slices (`slices.ts`).
import { importLimits } from '../../../contract/link-import.ts'
import { dayMs } from '../../../contract/time.ts'
import { isStorableText } from '../../../contract/values.ts'
import { lockAccount } from '../../accounts/store.ts'
import type { Tx } from '../../db/database.ts'
import type { Services } from '../../services.ts'
import type { Links } from '../links.ts'
import type { Lookup } from '../redirect/lookup-store.ts'
import { type ImportOptions, readRows, refused } from './file.ts'
import { createImportWork } from './slices.ts'
import {
  deleteImport,
  findImport,
  findOldImports,
  type Import,
  insertImport,
  insertImportRows,
  listImports,
  moveImport,
  type NewImport,
} from './store.ts'

export interface ImportFile {
  readonly name: string
  readonly bytes: Buffer
}

export interface Imports {
  /** Stores the rows of the file for the dry run. */
  upload(accountId: number, file: ImportFile, options: ImportOptions): Promise<number>
  start(accountId: number, id: number): Promise<void>
  cancel(accountId: number, id: number): Promise<void>
  /** Works on imports that no other process works on, until there are none. */
  work(signal: AbortSignal): Promise<void>
  deleteOld(signal: AbortSignal): Promise<void>
}

const rowsPerWrite = 500

export function createImports(
  services: Pick<Services, 'db' | 'credits' | 'config' | 'log'>,
  links: Links,
  lookup: Lookup,
): Imports {
  const { db } = services

  async function requireImport(accountId: number, id: number): Promise<Import> {
    const one = await findImport(db, accountId, id)
    if (!one) throw refused({ zh: '导入不存在', en: 'no such import' })
    return one
  }

  return {
    async upload(accountId, file, options) {
      const { rows, format, encoding } = await readRows(file.bytes, options)
      const invalid = rows.filter(({ state }) => state === 'invalid').length
      const id = await insertWithinLimit({
        account_id: accountId,
        file_name: fileNameOf(file.name),
        format,
        encoding,
        options: JSON.stringify(options),
        total: rows.length,
        invalid,
      })
      for (let start = 0; start < rows.length; start += rowsPerWrite) {
        const some = rows.slice(start, start + rowsPerWrite).map((row) => ({ ...row, import_id: id }))
        await db.write((tx) => insertImportRows(tx, some))
      }
      await db.write((tx) => moveImport(tx, id, ['uploading'], 'checking'))
      return id
    },

    async start(accountId, id) {
      await requireImport(accountId, id)
      const isStarted = await db.write((tx) => moveImport(tx, id, ['checked', 'paused'], 'running'))
      if (!isStarted) throw refused({ zh: '当前状态不能开始导入', en: 'the import cannot be started now' })
    },

    async cancel(accountId, id) {
      await requireImport(accountId, id)
      const isCancelled = await db.write((tx) =>
        moveImport(tx, id, ['checking', 'checked', 'running', 'paused'], 'cancelled'),
      )
      if (!isCancelled) throw refused({ zh: '导入已经结束', en: 'the import has ended' })
    },

    work: createImportWork(services, links, lookup),

    async deleteOld(signal) {
      for (const id of await findOldImports(db, importLimits.keepDays * dayMs, 100))
        await deleteImport(db, id, signal)
    },
  }

  /**
   * When there are too many, deletes the oldest import that has ended, or else the oldest one that was only checked: it has created and
   * charged nothing. Without such an import the account has to wait or cancel.
   */
  async function insertWithinLimit(one: NewImport): Promise<number> {
    for (;;) {
      const made = await db.write(async (tx) => {
        // Uploads at the same time do not see each other's imports, so the limit needs a lock.
        await lockAccount(tx, one.account_id)
        const all = await listImports(tx, one.account_id, importLimits.perAccount + 1)
        if (all.length < importLimits.perAccount) return { id: await insertImport(tx, one) }
        return { old: await takeOldest(tx, all) }
      })
      if (made.id !== undefined) return made.id
      if (!made.old)
        throw refused({
          zh: `最多保留 ${importLimits.perAccount} 个导入，请等待或取消`,
          en: `an account has at most ${importLimits.perAccount} imports; wait or cancel one`,
        })
      await deleteImport(db, made.old.id)
    }
  }
}

/** The import to delete. Nobody can start it any more. `all` is from new to old. */
async function takeOldest(tx: Tx, all: readonly Import[]): Promise<Import | undefined> {
  const ended = all.findLast(({ state }) => state === 'finished' || state === 'cancelled')
  if (ended) return ended
  for (const one of all.filter(({ state }) => state === 'checked').toReversed())
    if (await moveImport(tx, one.id, ['checked'], 'cancelled')) return one
  return undefined
}

function fileNameOf(name: string): string {
  const safe = name.replaceAll(/[\p{Cc}\p{Cf}/\\]/gu, '').trim()
  return (isStorableText(safe) ? safe : '').slice(0, importLimits.fileNameLength) || 'links.csv'
}
