// The commands `reconcile`.
import { paymentProviders } from '../contract/payments.ts'
import { formatTime } from '../contract/time.ts'
import { publicUrlOf } from '../server/config.ts'
import { createPayments } from '../server/payments/payments.ts'
import { reconcileNow, resolve } from '../server/payments/reconcile-now.ts'
import { listDifferences, listReconciliations } from '../server/payments/reconciliation-store.ts'
import { sumsView } from '../server/payments/views.ts'
import { cliActor, type Command, table, textFlag, UsageError } from './command.ts'

const maxListed = 200

export const reconciliationCommands: readonly Command[] = [
  {
    name: 'reconcile run',
    usage: 'PROVIDER YYYY-MM-DD',
    text: {
      zh: '用支付渠道的账单核对某天的订单',
      en: "compare a day's orders with the bill of a payment provider",
    },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run({ installation: { db }, config, words }) {
      const provider = paymentProviders.find((name) => name === words[0])
      if (!provider) throw new UsageError(`必须是 ${paymentProviders.join('、')} / must be one of these`)
      const payments = createPayments({ db, config, publicUrl: () => publicUrlOf(config) })
      const day = words[1]!
      const result = await reconcileNow(db, payments, cliActor, { provider, day })
      const json = {
        provider,
        day,
        result: result.kind,
        ...(result.kind === 'postponed' && { reason: result.reason }),
        ...(result.kind === 'done' && { differences: result.differences }),
      }
      const text = {
        done: () =>
          result.kind === 'done' ? `差异 ${result.differences} / ${result.differences} differences` : '',
        postponed: () => (result.kind === 'postponed' ? `账单不可用 / no bill: ${result.reason}` : ''),
        busy: () => '其他进程正在对账 / another process works on it',
      }[result.kind]()
      const line = `${provider} ${day}: ${text}`
      return result.kind === 'done' ? { json, text: line } : { json, text: '', failed: true, problem: line }
    },
  },
  {
    name: 'reconcile list',
    usage: '',
    text: { zh: `最近 ${maxListed} 次对账`, en: `list the latest ${maxListed} reconciliations` },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ installation: { db } }) {
      const rows = await listReconciliations(db, { limit: maxListed })
      const reconciliations = rows.map((row) => ({
        provider: row.provider,
        day: row.day,
        state: row.state,
        orders: row.orders,
        their_orders: row.their_orders,
        refunds: row.refunds,
        their_refunds: row.their_refunds,
        sums: sumsView(row),
        differences: row.differences,
        open: Number(row.open),
        reason: row.last_reason,
        at: formatTime(row.at),
      }))
      return {
        json: { reconciliations },
        text: table(
          ['provider', 'day', 'state', 'orders', 'theirs', 'differences', 'open', 'reason'],
          reconciliations.map((one) => [
            one.provider,
            one.day,
            one.state,
            one.orders,
            one.their_orders,
            one.differences,
            one.open,
            one.reason ?? '',
          ]),
        ),
      }
    },
  },
  {
    name: 'reconcile differences',
    usage: '[--all]',
    text: { zh: '未处理的差异；--all 为全部', en: 'list open differences; --all lists all of them' },
    minWords: 0,
    maxWords: 0,
    flags: { all: { type: 'boolean' } },
    async run({ installation: { db }, flags }) {
      const rows = await listDifferences(db, { openOnly: flags['all'] !== true, limit: maxListed })
      const differences = rows.map((row) => ({
        id: row.id,
        provider: row.provider,
        day: row.day,
        order: row.order_number,
        kind: row.kind,
        ours: row.ours,
        theirs: row.theirs,
        resolved_by: row.resolved_by,
        resolution: row.resolution,
      }))
      return {
        json: { differences },
        text: table(
          ['id', 'provider', 'day', 'order', 'kind', 'ours', 'theirs'],
          differences.map((one) => [
            one.id,
            one.provider,
            one.day,
            one.order,
            one.kind,
            one.ours,
            one.theirs,
          ]),
        ),
      }
    },
  },
  {
    name: 'reconcile resolve',
    usage: 'ID --note T',
    text: { zh: '把一处差异标为已处理', en: 'mark a difference as resolved' },
    minWords: 1,
    maxWords: 1,
    flags: { note: { type: 'string' } },
    async run({ installation: { db }, words, flags }) {
      const note = textFlag(flags, 'note')?.trim() ?? ''
      if (note === '') throw new UsageError('必须用 --note 写明如何处理 / --note is required')
      const id = /^[1-9]\d{0,14}$/.test(words[0]!) ? Number(words[0]) : 0
      await resolve(db, { ...cliActor, note }, id)
      return { json: { id, resolved: true }, text: `${id}: 已处理 / resolved` }
    },
  },
]
