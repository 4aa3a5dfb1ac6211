// The secret that keys the checksums of API keys. It is stored with the keys, so that a backup restores both.
import { randomBytes } from 'node:crypto'
import type { Database, Tx } from '../db/database.ts'
import { findSetting, insertSetting } from '../db/setting-store.ts'

const name = 'key_checksum_secret'

/** Creates the secret when it is first needed. */
export async function requireKeySecret(tx: Tx): Promise<string> {
  const known = await findSetting(tx, name)
  if (known !== undefined) return known
  await insertSetting(tx, name, randomBytes(32).toString('hex'))
  return (await findSetting(tx, name))!
}

export async function loadKeySecret(db: Database): Promise<string> {
  return (await findSetting(db, name)) ?? db.write(requireKeySecret)
}
