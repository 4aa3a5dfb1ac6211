// Every action that the service records has a name in the audit log.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { actionNames } from './audit-actions.ts'

test('every recorded action has a name in both languages', () => {
  const recorded = globSync('server/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(
        /(?:recordChange|recordOwnChange|insertAudit)\([^)]{0,120}?'([a-z_]+\.[a-z_]+)'/g,
      ),
    ])
    .map(([, action]) => action!)
  assert.ok(recorded.length > 40, String(recorded.length))
  assert.deepEqual(
    recorded.filter((action) => !actionNames[action]?.zh || !actionNames[action].en),
    [],
  )
})
