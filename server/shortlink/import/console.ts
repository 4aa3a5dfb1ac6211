// Console routes of imports: upload, dry run, start, progress, result file.
import { linkImportRoutes } from '../../../contract/console/link-import.ts'
import type { LinkImport, LinkImportRow } from '../../../contract/console/responses/link-import.ts'
import { importLimits } from '../../../contract/link-import.ts'
import { pricesOf } from '../../accounts/prices.ts'
import { isExpired } from '../../accounts/accounts.ts'
import type { Account } from '../../accounts/store.ts'
import { csvStream, rowsPerCsvPage } from '../../console/csv.ts'
import { ConsoleProblem, notFound } from '../../console/problem.ts'
import type { SignedInRequest } from '../../console/access.ts'
import type { Api } from '../../console/routes.ts'
import type { Services } from '../../services.ts'
import type { Shortlink } from '../api.ts'
import { findShortCodes } from '../store.ts'
import type { ImportInput } from './columns.ts'
import { findImport, type Import, type ImportRow, listImports, listRows } from './store.ts'

const rowsPerPage = 100

export function linkImportPages(api: Api, { db, config }: Services, { imports }: Shortlink): void {
  const describe = (account: Account, one: Import): LinkImport => {
    const { generate } = pricesOf(account, config.PRICES)
    const left = Math.max(0, one.total - one.invalid - one.created - one.failed)
    const isOver = one.state === 'finished' || one.state === 'cancelled'
    const { id, file_name, format, encoding, state, pause_reason, total, invalid, created, failed } = one
    return {
      id,
      file_name,
      format,
      encoding,
      state,
      pause_reason,
      total,
      invalid,
      created,
      failed,
      done: one.next_row,
      cost: isOver ? 0 : left * generate,
      created_at: one.created_at,
      ended_at: one.ended_at,
    }
  }

  async function requireImport(request: SignedInRequest): Promise<Import> {
    const one = await findImport(db, request.account.id, request.id())
    if (!one) throw notFound()
    return one
  }

  api.account(linkImportRoutes.list, async ({ account }) => ({
    items: (await listImports(db, account.id, importLimits.perAccount + 1)).map((one) =>
      describe(account, one),
    ),
  }))

  api.accountUpload(linkImportRoutes.upload, importLimits.fileBytes, async (request, input, bytes) => {
    const { account, language } = request
    requireActive(account)
    const options = { codes: input.codes, tag: input.tag?.trim() ?? '', language }
    const id = await imports.upload(account.id, { name: input.name, bytes }, options)
    const one = await findImport(db, account.id, id)
    if (!one) throw notFound()
    return describe(account, one)
  })

  api.account(linkImportRoutes.one, async (request) =>
    describe(request.account, await requireImport(request)),
  )

  api.account(linkImportRoutes.rows, async (request, input) => {
    const { id } = await requireImport(request)
    const rows = await listRows(db, id, input.from ?? 0, rowsPerPage + 1, input.state)
    const shown = rows.slice(0, rowsPerPage)
    return { items: shown.map(toRow), next: rows[rowsPerPage]?.row_index ?? null }
  })

  api.account(linkImportRoutes.start, async (request) => {
    requireActive(request.account)
    await imports.start(request.account.id, (await requireImport(request)).id)
    return {}
  })

  api.account(linkImportRoutes.cancel, async (request) => {
    await imports.cancel(request.account.id, (await requireImport(request)).id)
    return {}
  })

  api.accountFile(linkImportRoutes.result, async (request) => {
    const { id } = await requireImport(request)
    async function* pages() {
      for (let from = 0; ;) {
        const rows = await listRows(db, id, from, rowsPerCsvPage)
        const codes = await findShortCodes(
          db,
          rows.flatMap(({ link_id: linkId }) => linkId ?? []),
        )
        yield rows.map((row) => {
          const input = readInput(row)
          const code = row.link_id === null ? (input.short_code ?? '') : (codes.get(row.link_id) ?? '')
          return [
            row.line,
            row.state,
            code,
            row.link_id,
            input.target_url ?? '',
            input.title ?? '',
            row.problem,
          ]
        })
        const last = rows.at(-1)
        if (last === undefined || rows.length < rowsPerCsvPage) return
        from = last.row_index + 1
      }
    }
    return { name: `import-${id}.csv`, content: csvStream(headings[request.language], pages()) }
  })
}

const headings = {
  zh: ['行号', '结果', '短码', '编号', '目标地址', '标题', '问题'],
  en: ['line', 'result', 'code', 'id', 'target_url', 'title', 'problem'],
} as const

function readInput(row: ImportRow): Partial<ImportInput> {
  return JSON.parse(row.input) as Partial<ImportInput>
}

function toRow(row: ImportRow): LinkImportRow {
  const { target_url = '', short_code = '' } = readInput(row)
  const { row_index: index, line, state, problem } = row
  return { index, line, target_url, short_code, state, problem }
}

function requireActive(account: Account): void {
  if (isExpired(account))
    throw new ConsoleProblem('expired', { zh: '账户已过期', en: 'The account has expired' })
}
