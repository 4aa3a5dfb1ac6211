// Codes as they are given out: unlike each other, and each found again at its place.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { emptyStorage, freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import type { Tx } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { migration } from '../../db/migrations/0100-code-places.ts'
import { alphabet, codeLength, isReserved, isUgly } from './code.ts'
import { findCodes, openCodes } from './store.ts'
import { openLookup } from '../redirect/lookup-store.ts'
import { findOwnLinkByCode, findRetiredCodes, refreshLink } from '../store.ts'

test('codes made one after the other look like drawn by lot, and stand side by side', () => {
  const codes = openCodes(randomBytes(16))
  const many = 20_000
  const made = Array.from({ length: many }, () => codes.make())
  assert.equal(new Set(made.map(({ code }) => code)).size, many)
  for (const { code, place } of made) {
    assert.equal(code.length, codeLength)
    assert.ok(!isUgly(code) && !isReserved(code), code)
    assert.equal(codes.placeOf(code), place)
    assert.equal(codes.codeAt(place), code)
  }
  // Every letter is as frequent as every other, wherever it stands: 351 ± 19 times.
  for (let at = 0; at < codeLength; at += 1) {
    for (const letter of alphabet) {
      const times = made.filter(({ code }) => code[at] === letter).length
      assert.ok(times > 200 && times < 520, `${letter} ${times} times at ${at}`)
    }
  }
  // A code has 0.018 letters in common with the next one at each of its seven places, by chance.
  const common = made
    .slice(1)
    .reduce((sum, { code }, index) => sum + commonLetters(code, made[index]!.code), 0)
  assert.ok(Math.abs(common / many - codeLength / alphabet.length) < 0.02, String(common / many))
  const steps = made.slice(1).map(({ place }, index) => place - made[index]!.place)
  assert.ok(steps.filter((step) => step >= 1 && step <= 256).length >= many - 2)
  assert.ok(new Set(steps).size > 32)
})

function commonLetters(one: string, other: string): number {
  return [...one].filter((letter, at) => other[at] === letter).length
}

test('another run begins somewhere else', () => {
  const codes = openCodes(Buffer.alloc(16, 9))
  const before = codes.make().place
  codes.leap()
  assert.ok(Math.abs(codes.make().place - before) > 1_000)
  assert.ok(Math.abs(openCodes(Buffer.alloc(16, 9)).make().place - before) > 1_000)
})

test('what is no code has no place', () => {
  const codes = openCodes(Buffer.alloc(16, 9))
  for (const text of ['', 'abcdef', 'abcdefgh', 'abcdef0', 'Oabcdef', 'abc-efg', '短码短码短码短'])
    assert.equal(codes.placeOf(text), undefined, text)
  const letter = fc.constantFrom(...alphabet)
  fc.assert(
    fc.property(fc.array(letter, { minLength: codeLength, maxLength: codeLength }), (letters) => {
      const code = letters.join('')
      assert.equal(codes.codeAt(codes.placeOf(code)!), code)
    }),
  )
})

/** As the table was before codes had places. */
async function takePlacesAway(tx: Tx): Promise<void> {
  await tx.run(`DELETE FROM setting WHERE name = 'link_code_key'`)
  await tx.run('DROP TABLE link_code')
  await tx.run(`CREATE TABLE link_code (code text PRIMARY KEY, link_id bigint NOT NULL, retired_at bigint, live_until bigint)
    ${tx.engine === 'sqlite' ? 'WITHOUT ROWID' : ''}`)
  await tx.run('CREATE INDEX link_code_retired ON link_code (link_id) WHERE retired_at IS NOT NULL')
}

onEachEngine('the key of the codes', (engine) => {
  test('codes given out before there were places are found at theirs', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const accountId = (await createAccount(db, { username: 'somebody', password: 'correct horse 9' })).id
    const before = openCodes(Buffer.alloc(16, 3))
    const old = Array.from({ length: 10_050 }, (_, n) => before.codeAt(n))
    await db.write(async (tx) => {
      await takePlacesAway(tx)
      await tx.run(
        `INSERT INTO link (account_id, code, title, target_url, redirect_url_a, redirect_type, location_a, location_b,
           host_a, host_b, created_at, updated_at)
         VALUES (?, ?, '', '', '', 'direct', 'https://example.com/', 'https://example.com/', '', '', 0, 0)`,
        [accountId, old[0]!],
      )
      const insert = 'INSERT INTO link_code (code, link_id, retired_at, live_until) VALUES (?, ?, ?, ?)'
      await tx.run(insert, [old[0]!, 1, null, null])
      for (const [n, code] of old.slice(1).entries()) await tx.run(insert, [code, 1, n, n])
      await migration(tx, { identity: ['bigint', (c) => c] })
    })
    const codes = await findCodes(db)
    const lookup = openLookup(db, codes)
    assert.equal((await lookup.find(old[0]!))?.liveUntil, undefined)
    for (const n of [1, 2, 9_999, 10_000, 10_001, 10_049])
      assert.equal((await lookup.find(old[n]!))?.liveUntil, n - 1)
    const [row] = await db.all<{ count: number }>('SELECT COUNT(*) AS count FROM link_code')
    assert.equal(row?.count, old.length)
    assert.equal((await findOwnLinkByCode(db, accountId, old[0]!, codes))?.id, 1)
    assert.equal((await findRetiredCodes(db, 1, codes))[0]?.code, old.at(-1))
    const refresh = { accountId, id: 1, hosts: { a: '', b: '' }, graceMs: 0 }
    const renewed = await db.write((tx) => refreshLink(tx, refresh, codes))
    assert.equal((await openLookup(db, codes).find(renewed!))?.id, 1)
    assert.equal((await openLookup(db, codes).find(old[0]!))?.liveUntil, 0)
  })

  test('is made once and is another one in every database', async () => {
    const first: string[] = []
    for (let n = 0; n < 2; n += 1) {
      // Migrated here: the key is made by a migration, and copies of one migrated database would share it.
      const storage = await emptyStorage(engine)
      const db = storage.open()
      await migrate(db)
      first.push((await findCodes(db)).codeAt(1))
      assert.equal((await findCodes(db)).codeAt(1), first[n])
      await db.close()
      await storage.remove()
    }
    assert.notEqual(first[0], first[1])
  })
})
