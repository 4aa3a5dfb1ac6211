// Metrics for operators: version, disk, last backup, last ledger check.
import assert from 'node:assert/strict'
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import project from '../../package.json' with { type: 'json' }
import { onEachEngine } from '../../test/support/engines.ts'
import { admin, startService } from '../../test/support/service.ts'

onEachEngine('metrics of the installation', (engine) => {
  it('name the version, the free space, and the time and result of backups and ledger checks', async () => {
    await using service = await startService(engine)
    const folder = service.storage.environment['DATA_DIR']!
    async function read(): Promise<Map<string, number>> {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      return new Map(
        text
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#'))
          .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
      )
    }

    const first = await read()
    const info = [...first.keys()].find((name) => name.startsWith('tollgate_build_info'))
    assert.ok(info?.includes(`version="${project.version}"`) && info.includes(`engine="${engine}"`), info)
    const { blocks, bsize } = statfsSync(folder)
    assert.equal(first.get('tollgate_disk_size_bytes'), blocks * bsize)
    const free = first.get('tollgate_disk_free_bytes')!
    assert.ok(free > 0 && free <= blocks * bsize)
    assert.equal(first.get('tollgate_backup_timestamp_seconds'), 0)
    assert.equal(first.get('tollgate_ledger_check_timestamp_seconds'), 0)
    assert.equal(first.get('tollgate_ledger_check_ok'), 1)
    assert.equal(first.get('tollgate_requests_total{endpoint="sms",code="5000"}'), 0)
    assert.equal(first.get('tollgate_requests_total{endpoint="shortlink",code="503"}'), 0)

    const startedAt = Math.floor(Date.now() / 1000)
    const failed = await admin(service.storage.environment, 'backup', join(folder, 'no', 'such', 'folder'))
    assert.equal(failed.code, 1)
    assert.equal((await read()).get('tollgate_backup_timestamp_seconds'), 0, 'a failed backup does not count')
    assert.equal((await admin(service.storage.environment, 'backup', join(folder, 'backup'))).code, 0)
    assert.equal((await admin(service.storage.environment, 'ledger', 'check')).code, 0)
    const second = await read()
    assert.ok(second.get('tollgate_backup_timestamp_seconds')! >= startedAt)
    assert.ok(second.get('tollgate_ledger_check_timestamp_seconds')! >= startedAt)
    assert.equal(second.get('tollgate_ledger_check_ok'), 1)

    const account = await service.account({ sms: 5 })
    await service.installation.db.write((tx) =>
      tx.run('UPDATE credit SET total = total + 1 WHERE account_id = ?', [account.id]),
    )
    assert.equal((await admin(service.storage.environment, 'ledger', 'check')).code, 1)
    assert.equal((await read()).get('tollgate_ledger_check_ok'), 0)
  })
})
