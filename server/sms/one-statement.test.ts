// A plain message on PostgreSQL: charged and recorded with one statement, settled and marked with another.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countStatements } from '../../test/support/count-statements.ts'
import { freshDatabase } from '../../test/support/engines.ts'
import { createAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { registerWriter } from '../credits/batch-writer.ts'
import { createCredits } from '../credits/credits.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import type { Charge, Written } from '../credits/operation.ts'
import { markSettled } from './ends.ts'
import {
  findSend,
  insertSends,
  type NewSend,
  type SendPosition,
  sendsPart,
  type SendRecord,
  updateStatuses,
} from './store.ts'

type Send = Omit<NewSend, 'operationId' | 'createdAt'>

const insert = registerWriter<Send, Charge, Written<SendPosition>>(
  async (tx, items) => {
    const sends = items.map(({ item, result }) => ({
      ...item,
      operationId: result.operationId,
      createdAt: result.at,
    }))
    return (await insertSends(tx, sends)).map((value) => ({ value }))
  },
  (sends) => {
    const part = sendsPart(sends)
    return { ...part, read: (text, charges) => part.read(text, charges).map((value) => ({ value })) }
  },
)

async function open() {
  const fresh = await freshDatabase('postgres')
  const statements = countStatements(fresh.db)
  const credits = createCredits(statements.db, 'a secret of thirty-two characters or more')
  const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
  await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 100 })
  return {
    ...fresh,
    statements,
    async charge(phone: string) {
      const charged = await credits.charge<SendPosition>({
        accountId: id,
        apiType: 'sms',
        action: 'sms.send',
        cost: 1,
        requestId: 'r',
        leaseMs: 60_000,
        inSameTransaction: insert({
          accountId: id,
          phone,
          templateCode: 'CODE',
          templateParams: '{"name":"引号\\" , {大括号}\\\\"}',
          signName: '签名',
          parts: 2,
          gateway: 'sandbox',
        }),
      })
      assert.ok(charged.kind === 'charged')
      return { ...charged.value, operationId: charged.operationId }
    },
    settle: ({ id: sendId, operationId }: { id: number; operationId: number }, gatewayId?: string) =>
      credits.end({
        accountId: id,
        operationId,
        end: { state: 'settled' },
        sends: 1,
        inSameTransaction: markSettled({ id: sendId, gatewayId, event: undefined, batch_id: null }),
      }),
    problems: async () => (await checkLedger(fresh.db, 0)).problems,
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

/** What two records of the same message have in common. */
function commonOf({ id: _id, operation_id: _operationId, created_at: _at, ...rest }: SendRecord) {
  return rest
}

describe('plain messages with one statement', () => {
  it('have the same records as with a transaction', async () => {
    await using t = await open()
    const first = await t.charge('13800138000')
    assert.equal(t.statements.done, 0)
    const phones = ['13900139000', '13800138000', '13700137000']
    const others = await Promise.all(phones.map((phone) => t.charge(phone)))
    assert.deepEqual([t.statements.done, t.statements.failed], [1, 0])
    const records = await Promise.all(others.map(({ id }) => findSend(t.db, id)))
    for (const [i, record] of records.entries()) {
      assert.equal(record!.phone, phones[i])
      assert.equal(record!.operation_id, others[i]!.operationId)
      assert.equal(record!.created_at, others[i]!.created_at)
      const operation = await t.db.one<{ created_at: number }>(
        'SELECT created_at FROM operation WHERE id = ?',
        [record!.operation_id],
      )
      assert.equal(operation!.created_at, record!.created_at)
    }
    assert.deepEqual(commonOf(records[1]!), commonOf((await findSend(t.db, first.id))!))
    assert.deepEqual(await t.problems(), [])
  })

  it('are marked as accepted, unless a receipt came first', async () => {
    await using t = await open()
    await t.charge('13800138000')
    const sent = [await t.charge('13800138000'), await t.charge('13900139000'), await t.charge('13700137000')]
    const { done } = t.statements
    await Promise.all([t.settle(sent[0]!, 'v1'), t.settle(sent[1]!)])
    assert.deepEqual([t.statements.done, t.statements.failed], [done + 1, 0])
    await t.db.write((tx) =>
      updateStatuses(tx, [
        {
          id: sent[2]!.id,
          state: 'undelivered',
          gatewayId: 'v3',
          charged: true,
          problem: 'undelivered',
          code: '',
          receiptCode: 'UNDELIV',
        },
      ]),
    )
    assert.deepEqual(await t.settle(sent[2]!, 'v3'), { ended: true, refunded: 0, remaining: undefined })
    assert.deepEqual([t.statements.done, t.statements.failed], [done + 1, 1])
    const records = await Promise.all(sent.map(({ id }) => findSend(t.db, id)))
    assert.deepEqual(
      records.map((record) => [record!.state, record!.success, record!.gateway_id]),
      [
        ['accepted', 1, 'v1'],
        ['accepted', 1, null],
        ['undelivered', 0, 'v3'],
      ],
    )
    assert.deepEqual(await t.problems(), [])
  })
})
