// Console routes for operators: create, list, export and revoke redeem codes.
import { operatorRoutes } from '../../../contract/console/operator.ts'
import type { RedeemBatch, RedeemCodeRow } from '../../../contract/console/responses/operator.ts'
import type { Text } from '../../../contract/text.ts'
import { formatDay, startOfDay } from '../../../contract/time.ts'
import type { Services } from '../../services.ts'
import { pageRows, toPage } from '../../console/fields.ts'
import type { Api } from '../../console/routes.ts'
import { csvStream, csvTime, rowsPerCsvPage } from '../../console/csv.ts'
import { conflict, invalidFields, notFound } from '../../console/problem.ts'
import { hashRedeemCode, maskRedeemCode, generateRedeemCode, readRedeemCode } from './code.ts'
import {
  countBatches,
  findBatch,
  insertBatch,
  listBatches,
  listCodes,
  revokeBatch,
  revokeCode,
} from './store.ts'
import { requireConfirmation } from '../../console/confirmation.ts'
import { operatorOf } from '../../console/operator-actor.ts'

export function redeemBatchPages(api: Api, { db }: Services, secret: string): void {
  async function requireBatch(id: number): Promise<RedeemBatch> {
    const batch = await findBatch(db, id)
    if (!batch) throw notFound()
    return batch
  }

  api.operator(operatorRoutes.redeemBatches, async (_request, input) => {
    const page = pageRows(input)
    return toPage(page, await listBatches(db, page), await countBatches(db))
  })

  api.operator(operatorRoutes.makeRedeemBatch, async (request, input) => {
    requireConfirmation(request)
    const expiresOn = input.expires_on ?? null
    if (expiresOn !== null && (startOfDay(expiresOn) === undefined || expiresOn < formatDay(Date.now()))) {
      throw invalidFields({
        expires_on: { zh: '必须是今天或以后的日期', en: 'Must be today or a later day' },
      })
    }
    const codes = Array.from({ length: input.count }, generateRedeemCode)
    const stored = codes.map((code) => {
      const plain = readRedeemCode(code) ?? ''
      return { hash: hashRedeemCode(secret, plain), hint: maskRedeemCode(plain) }
    })
    const id = await db.write((tx) =>
      insertBatch(tx, operatorOf(request, input), {
        apiType: input.api_type,
        amount: input.amount,
        expiresOn,
        codes: stored,
      }),
    )
    return { batch: await requireBatch(id), codes }
  })

  api.operator(operatorRoutes.redeemBatch, async (request, input) => {
    const batch = await requireBatch(request.id())
    const page = pageRows(input)
    const { rows, total } = await listCodes(db, {
      batchId: batch.id,
      state: input.state,
      ...page,
    })
    return { batch, ...toPage(page, rows, total) }
  })

  api.operatorFile(operatorRoutes.redeemBatchCsv, async (request) => {
    const batch = await requireBatch(request.id())
    const { language } = request
    async function* pages() {
      for (let offset = 0; ; offset += rowsPerCsvPage) {
        const { rows } = await listCodes(db, { batchId: batch.id, limit: rowsPerCsvPage, offset })
        yield rows.map((row) => [
          row.hint,
          stateNames[row.state][language],
          row.redeemed_by,
          csvTime(row.redeemed_at),
          csvTime(row.revoked_at),
        ])
        if (rows.length < rowsPerCsvPage) return
      }
    }
    return { name: `redeem-codes-${batch.id}.csv`, content: csvStream(headings[language], pages()) }
  })

  api.operator(operatorRoutes.revokeRedeemBatch, async (request, input) => {
    const batch = await requireBatch(request.id())
    const revoked = await db.write((tx) => revokeBatch(tx, operatorOf(request, input), batch.id))
    return { revoked }
  })

  api.operator(operatorRoutes.revokeRedeemCode, async (request, input) => {
    const id = request.id()
    const hint = await db.write((tx) => revokeCode(tx, operatorOf(request, input), id))
    if (hint === undefined) {
      throw conflict('兑换码不存在、已使用或已作废', 'There is no such code, or it was used or revoked')
    }
    return {}
  })
}

const stateNames: Readonly<Record<RedeemCodeRow['state'], Text>> = {
  unused: { zh: '未使用', en: 'unused' },
  redeemed: { zh: '已兑换', en: 'redeemed' },
  revoked: { zh: '已作废', en: 'revoked' },
}

const headings = {
  zh: ['兑换码', '状态', '兑换人', '兑换时间', '作废时间'],
  en: ['code', 'state', 'redeemed_by', 'redeemed_at', 'revoked_at'],
} as const
