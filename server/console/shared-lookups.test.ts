// Look-ups that share a query, and what they may return.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareLookups } from './shared-lookups.ts'

function createReader() {
  const started: PromiseWithResolvers<number>[] = []
  const find = shareLookups(() => {
    const query = Promise.withResolvers<number>()
    started.push(query)
    return query.promise
  })
  return { started, find }
}

/** Lets every promise settle that can. */
const turn = () => new Promise(setImmediate)

test('148 calls that arrive during a query share the next one', async () => {
  const { started, find } = createReader()
  const first = find('a')
  const others = [find('a'), find('a'), find('a')]
  await turn()
  assert.equal(started.length, 1)
  started[0]!.resolve(1)
  assert.equal(await first, 1)
  await turn()
  assert.equal(started.length, 2)
  started[1]!.resolve(2)
  assert.deepEqual(await Promise.all(others), [2, 2, 2])
  const last = find('a')
  started[2]!.resolve(3)
  assert.equal(await last, 3)
})

test('keys do not wait for each other', () => {
  const { started, find } = createReader()
  void find('a')
  void find('b')
  assert.equal(started.length, 2)
})

test('a failed query does not fail the next one', async () => {
  const { started, find } = createReader()
  const first = find('a')
  const second = find('a')
  started[0]!.reject(new Error('connection lost'))
  await assert.rejects(first, /connection lost/)
  await turn()
  started[1]!.resolve(2)
  assert.equal(await second, 2)
})
