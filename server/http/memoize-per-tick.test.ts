// Within one turn of the event loop a question is asked once; the next turn asks anew.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { memoizePerTick } from './memoize-per-tick.ts'

it('asks once for each key in a turn, and again in the next', async () => {
  const asked: string[] = []
  const answers = new Map([['a', 1]])
  const find = memoizePerTick((key: string) => {
    asked.push(key)
    return answers.get(key)
  })
  assert.deepEqual([find('a'), find('a'), find('b')], [1, 1, undefined])
  await Promise.resolve()
  assert.equal(find('a'), 1)
  assert.deepEqual(asked, ['a', 'b'])

  answers.set('a', 2)
  await nextTurn()
  assert.equal(find('a'), 2)
  assert.deepEqual(asked, ['a', 'b', 'a'])
})

it('does not remember that there was nothing: whoever is made in this turn is found in it', () => {
  const answers = new Map<string, number>()
  const find = memoizePerTick((key: string) => answers.get(key))
  assert.equal(find('new'), undefined)
  answers.set('new', 1)
  assert.equal(find('new'), 1)
})

it('keeps nothing of a question that failed', () => {
  let fails = true
  const find = memoizePerTick((key: string) => {
    if (fails) throw new Error('away')
    return key
  })
  assert.throws(() => find('a'), /away/)
  fails = false
  assert.equal(find('a'), 'a')
})
