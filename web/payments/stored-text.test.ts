// Stored texts about payments, in the language of the console.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settledByReconciliation } from '../../contract/payments.ts'
import { storedText } from './stored-text.ts'

test('stored texts about payments are shown in the language of the console', () => {
  assert.equal(storedText(settledByReconciliation).zh, '对账时已自动到账')
  assert.equal(storedText('granted 99.00 CNY 2026010322002').zh, '已到账 99.00 CNY 2026010322002')
  assert.equal(storedText('paid by alipay').zh, '通过支付宝支付')
  assert.equal(storedText('amount 98.00, expected 99.00').zh, '金额为 98.00，应为 99.00')
  assert.equal(storedText('closed').en, 'Closed')
})

test('a note of an operator and a code of a vendor stay as they are', () => {
  assert.equal(storedText('已在商户平台退款').zh, '已在商户平台退款')
  assert.equal(storedText('ACQ.TRADE_NOT_EXIST').en, 'ACQ.TRADE_NOT_EXIST')
})
