// The keyed hash of a person.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { createPersonHash } from './privacy.ts'

const person = { name: '张三', number: '11010519491231002X' }
const seed = { generation: 1, salt: 'salt one' }

describe('the keyed hash', () => {
  const hash = createPersonHash('an installation secret of some length')

  it('is equal only for the same person', () => {
    assert.equal(hash(seed, person), hash(seed, { ...person }))
    assert.notEqual(hash(seed, person), hash(seed, { ...person, name: '李四' }))
    assert.notEqual(hash(seed, person), hash(seed, { ...person, number: '110105194912310038' }))
  })

  it('needs both the secret and the salt', () => {
    const others = [
      hash({ generation: 2, salt: 'salt two' }, person),
      createPersonHash('another installation secret of length')(seed, person),
      createHash('sha256').update(person.number).digest('base64url'),
      createHash('sha256').update(`${person.number}\n${person.name}`).digest('base64url'),
    ]
    for (const other of others) assert.notEqual(hash(seed, person), other)
    assert.equal(hash(seed, person), createPersonHash('an installation secret of some length')(seed, person))
  })
})
