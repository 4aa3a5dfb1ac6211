// The rules for passwords and the cost of their hashes. No test support is imported here: it lowers that cost.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { hashPassword, lowerPasswordCostForTests, passwordProblem, verifyPassword } from './password.ts'
import { systemShare } from './password-turns.ts'

it('names what is wrong with a password', () => {
  assert.equal(passwordProblem('correct horse', 'someone'), undefined)
  assert.equal(passwordProblem('密码密码密码密码短句', 'someone'), undefined)
  assert.ok(passwordProblem('1234567', 'someone'))
  assert.ok(passwordProblem('qV7#xk2', 'someone'), 'seven characters')
  assert.equal(passwordProblem('qV7#xk2m', 'someone'), undefined, 'eight characters')
  assert.ok(passwordProblem('aaaaaaaaaaaa', 'someone'))
  assert.ok(passwordProblem('QWERTYUIOP', 'someone'))
  assert.ok(passwordProblem('x'.repeat(201), 'someone'))
})

it('hashes at full cost unless a test process lowers it, which production refuses', async () => {
  const fullCost = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/
  const stored = await hashPassword('correct horse', systemShare)
  assert.match(stored, fullCost)
  assert.equal(await verifyPassword(stored, 'correct horse', systemShare), true)
  assert.equal(await verifyPassword(stored, 'wrong horse', systemShare), false)

  process.env['NODE_ENV'] = 'production'
  try {
    assert.throws(lowerPasswordCostForTests, /production/)
  } finally {
    delete process.env['NODE_ENV']
  }
  assert.match(await hashPassword('correct horse', systemShare), fullCost)
})
