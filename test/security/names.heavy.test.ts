// User names that pass for others: reserved names, look-alikes, and names that differ only in case or width.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { sessionRoutes } from '../../contract/console/session.ts'
import { createAccount, requireAccount } from '../../server/accounts/accounts.ts'
import { systemActor } from '../../server/audit/audit.ts'
import { migrate } from '../../server/db/migrate.ts'
import { migrations } from '../../server/db/migrations/list.ts'
import { columnTypes } from '../../server/db/migrations/migration.ts'
import { createBrowser, testPassword } from '../support/console.ts'
import { emptyStorage, onEachEngine, uniqueName } from '../support/engines.ts'
import { admin, startService, type TestService } from '../support/service.ts'

onEachEngine('user names', (engine) => {
  let service: TestService

  before(
    async () => void (service = await startService(engine, { SIGN_UP: 'on', TRUSTED_PROXIES: '127.0.0.1' })),
  )
  after(() => service[Symbol.asyncDispose]())

  const signUp = (username: string) =>
    createBrowser(service).call(sessionRoutes.signUp, { sent: { username, password: testPassword } })

  it('37 sign-up accepts no name that passes for an operator or the command line', async () => {
    for (const username of [
      'admin',
      'Admin',
      'ａｄｍｉｎ',
      'аdmin',
      'ΑDMIN',
      'cli',
      'CLI',
      'ｃｌｉ',
      'root',
      'support',
    ]) {
      const reply = await signUp(username)
      assert.equal(reply.status, 400, username)
      assert.deepEqual(Object.keys(reply.body.error.fields), ['username'], username)
    }
    const row = await service.installation.db.one<{ count: number }>('SELECT COUNT(*) AS count FROM account')
    assert.equal(row?.count, 0)
  })

  it('37 a name is taken in every case and width, for visitors, operators and the command line', async () => {
    const taken = `Shop-${uniqueName()}`
    assert.equal((await signUp(taken)).status, 200)
    const fullWidth = taken.replace('Shop', 'ｓｈｏｐ')
    for (const username of [taken.toUpperCase(), taken.toLowerCase(), fullWidth]) {
      const reply = await signUp(username)
      assert.deepEqual(reply.body.error?.fields, { username: '用户名已被使用' }, username)
      const created = await admin(service.storage.environment, 'account', 'create', username)
      assert.equal(created.code, 1, username)
      assert.match(created.stderr, /the user name is taken/)
    }
    const name = uniqueName()
    const results = await Promise.allSettled(
      [name, name.toUpperCase(), `U${name.slice(1)}`].map((username) =>
        createAccount(service.installation.db, systemActor, { username }),
      ),
    )
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  it('37 the owner of a similar name cannot reset the guesses at another account', async () => {
    const { db } = service.installation
    const [victim, attacker] = [await service.account(), await service.account()]
    // As created by an older version.
    const similar = victim.username.toUpperCase()
    await db.write((tx) =>
      tx.run('UPDATE account SET username = ?, unique_name = NULL WHERE id = ?', [similar, attacker.id]),
    )
    const signIn = async (username: string, password: string) =>
      (await createBrowser(service).signIn(username, password)).status
    for (let guess = 0; guess < 10; guess += 1) {
      assert.equal(await signIn(victim.username, 'a wrong guess'), 401)
      assert.equal(await signIn(similar, testPassword), 200)
    }
    assert.equal(await signIn(victim.username, 'a wrong guess'), 429)
    assert.equal(await signIn(similar, testPassword), 200)
  })

  it('37 accounts of an older version whose names differ only in case keep working', async () => {
    const storage = await emptyStorage(engine)
    const db = storage.open()
    try {
      const older = migrations.filter(({ name }) => name < '0009')
      await db.write(async (tx) => {
        await tx.run('CREATE TABLE migration (name text PRIMARY KEY, applied_at bigint NOT NULL)')
        for (const migration of older) {
          await migration.run(tx, columnTypes[engine])
          await tx.run('INSERT INTO migration (name, applied_at) VALUES (?, 0)', [migration.name])
        }
        for (const username of ['Owner', 'owner', '张三']) {
          await tx.run(
            `INSERT INTO account (username, role, password_hash, created_at) VALUES (?, 'account', 'x', 0)`,
            [username],
          )
        }
      })
      await migrate(db)
      for (const username of ['Owner', 'owner', '张三']) {
        assert.equal((await requireAccount(db, username)).username, username)
      }
      for (const username of ['OWNER', 'owner', 'ｏｗｎｅｒ']) {
        await assert.rejects(createAccount(db, systemActor, { username }), /taken/, username)
      }
      await createAccount(db, systemActor, { username: '李四' })
    } finally {
      await db.close()
      await storage.remove()
    }
  })
})
