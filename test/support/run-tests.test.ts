// The order of the test files.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { join } from 'node:path'
import { orderFiles } from './run-tests.ts'

test('end-to-end files come first, then larger files', () => {
  const files = [
    { path: join('server', 'a.test.ts'), size: 900 },
    { path: join('test', 'small.test.ts'), size: 10 },
    { path: join('server', 'b.test.ts'), size: 5_000 },
    { path: join('test', 'browser', 'large.test.ts'), size: 800 },
    { path: join('cli', 'c.test.ts'), size: 900 },
  ]
  assert.deepEqual(orderFiles(files), [
    join('test', 'browser', 'large.test.ts'),
    join('test', 'small.test.ts'),
    join('server', 'b.test.ts'),
    join('cli', 'c.test.ts'),
    join('server', 'a.test.ts'),
  ])
})
