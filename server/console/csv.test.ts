import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
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
