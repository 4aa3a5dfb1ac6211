// Results are cached for one turn of the event loop.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { memoizePerTick, nextTurn as startAfterRequests } from './memoize-per-tick.ts'

it('calls the function once per key and turn', async () => {
  const calls: string[] = []
  const answers = new Map([['a', 1]])
  const find = memoizePerTick((key: string) => {
    calls.push(key)
    return answers.get(key)
  })
  assert.deepEqual([find('a'), find('a'), find('b')], [1, 1, undefined])
  await Promise.resolve()
  assert.equal(find('a'), 1)
  assert.deepEqual(calls, ['a', 'b'])

  answers.set('a', 2)
  await nextTurn()
  assert.equal(find('a'), 2)
  assert.deepEqual(calls, ['a', 'b', 'a'])
})

it('does not cache undefined: a value created in the same turn is found', () => {
  const answers = new Map<string, number>()
  const find = memoizePerTick((key: string) => answers.get(key))
  assert.equal(find('new'), undefined)
  answers.set('new', 1)
  assert.equal(find('new'), 1)
})

it('does not cache a failure', () => {
  let fails = true
  const find = memoizePerTick((key: string) => {
    if (fails) throw new Error('away')
    return key
  })
  assert.throws(() => find('a'), /away/)
  fails = false
  assert.equal(find('a'), 'a')
})

it('gives work that starts after the requests of a turn results of its own', async () => {
  let answer = 1
  const find = memoizePerTick(() => answer)
  await startAfterRequests()
  assert.equal(find('a'), 1)
  // The next turn reads requests before it clears what it found itself.
  const inNextTurn = new Promise<number>((resolve) => {
    setTimeout(() => resolve(find('a')), 1)
  })
  answer = 2
  // The timer is due when the turn begins.
  for (const end = performance.now() + 5; performance.now() < end;);
  assert.equal(await inNextTurn, 2)
})
