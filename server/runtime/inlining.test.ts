// V8 ignores flags that it does not know, so a new Node.js without them would be slower and nobody would notice.
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { cachedDataVersionTag } from 'node:v8'
import { growHeapFurther, heapGrowthFlag } from './heap-growth.ts'
import { inlineMore, inliningFlags } from './inlining.ts'

test('this version of V8 knows the flags', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  for (const flag of [...inliningFlags, heapGrowthFlag])
    assert.match(known, new RegExp(`^ +${flag.split('=')[0]} `, 'm'))
})

test('V8 accepts them while the process runs', () => {
  // The tag depends on the flags.
  for (const set of [inlineMore, growHeapFurther]) {
    const before = cachedDataVersionTag()
    set()
    assert.notEqual(cachedDataVersionTag(), before)
  }
})
