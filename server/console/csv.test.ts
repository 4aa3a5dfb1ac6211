// Exports: streamed page by page, a few at a time.
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { until } from '../../test/support/until.ts'
import { csvStream } from './csv.ts'

it('streams page after page after a byte order mark', async () => {
  async function* pages() {
    yield [['一', 1]]
    yield []
    yield [['二', 2]]
  }
  const bytes = await text(csvStream(['名', '数'], pages()))
  assert.equal(bytes.replace(/^\uFEFF/, ''), '名,数\r\n一,1\r\n二,2\r\n')
})

it('reads a few pages at a time, whatever the number of exports', async () => {
  let running = 0
  let most = 0
  async function* pages() {
    for (let page = 0; page < 4; page += 1) {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      yield [[page]]
    }
  }
  const files = await Promise.all(Array.from({ length: 10 }, () => text(csvStream(['n'], pages()))))
  assert.equal(most, 2)
  assert.deepEqual([...new Set(files)], ['n\r\n0\r\n1\r\n2\r\n3\r\n'])
})

it('an export that fails or is no longer read leaves its turn to the others', async () => {
  let closed = 0
  async function* failing() {
    yield [[1]]
    throw new Error('the database is gone')
  }
  async function* endless() {
    try {
      for (;;) yield [[1]]
    } finally {
      closed += 1
    }
  }
  for (let i = 0; i < 3; i += 1) {
    await assert.rejects(text(csvStream(['n'], failing())), /the database is gone/)
    const left = csvStream(['n'], endless())
    await new Promise((resolve) => left.once('data', resolve))
    left.destroy()
  }
  async function* pages() {
    yield [[7]]
  }
  assert.equal(await text(csvStream(['n'], pages())), 'n\r\n7\r\n')
  await until(() => closed === 3)
})
