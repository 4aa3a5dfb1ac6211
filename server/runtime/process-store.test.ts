// The list of running processes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { listProcesses, registerProcess } from './process-store.ts'

onEachEngine('running processes', (engine) => {
  it('have those that run, and not those that were killed on this machine', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const entry = await registerProcess(db, 1)
    const [own] = await listProcesses(db)
    assert.ok(own)
    const { pid: ended } = spawnSync(process.execPath, ['--version'])
    const [machine, pid] = own.id.split(' ')
    assert.equal(pid, String(process.pid))
    const insert = (id: string) =>
      db.write((tx) =>
        tx.run(
          `INSERT INTO service_process (id, version, connections, seen_at) VALUES (?, '0.0.0', 1, ${tx.now})`,
          [id],
        ),
      )
    await insert(`${machine} ${ended} killed`)
    await insert(`another-machine/ ${ended} unknown`)
    const ids = (await listProcesses(db)).map(({ id }) => id)
    assert.deepEqual(ids.toSorted(), [own.id, `another-machine/ ${ended} unknown`].toSorted())
    await entry.remove()
    assert.equal((await listProcesses(db)).length, 1)
  })
})
