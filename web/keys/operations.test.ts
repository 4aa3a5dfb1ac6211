// The samples of each operation of the public interface.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleBody, operations, templateFor, templateValues } from './operations.ts'

const caller = { username: 'yunfan', key: '<API_KEY>' }
const exampleOf = (id: string) =>
  exampleBody(
    operations.find((one) => one.id === id)!,
    caller,
  )

test('the sample of a batch has recipients, and those of a link name one', () => {
  assert.deepEqual(exampleOf('sms.send_batch')['phone_numbers'], ['13800138000', '13800138001'])
  for (const id of ['get', 'stats', 'pause', 'resume', 'delete'])
    assert.equal(typeof exampleOf(`shortlink.${id}`)['link_id'], 'number', id)
})

test('samples use a template that the operation can send', () => {
  const order = { code: 'ORDER', variables: ['name', 'order'] }
  const login = { code: 'LOGIN', variables: ['code', 'minutes'] }
  assert.equal(templateFor('sms.send', [order, login]), order)
  assert.equal(templateFor('sms.sendCode', [order, login]), login)
  assert.equal(templateFor('sms.sendCode', [order]), undefined)
  assert.deepEqual(templateValues('sms.send_batch', order), {
    template_code: 'ORDER',
    template_params: { name: '1234', order: '1234' },
  })
  assert.deepEqual(templateValues('sms.sendCode', login), { template_code: 'LOGIN' })
})
