// The Ed25519 key that signs statements, derived from SECRET_KEY: the same in every process, and never stored.
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto'

/** PKCS#8 of an Ed25519 key without its seed. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface StatementKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** The beginning of the digest of the public key. */
  readonly id: string
  /** The public key as PEM. */
  readonly pem: string
}

export function deriveStatementKey(secretKey: string): StatementKey {
  const seed = Buffer.from(hkdfSync('sha256', secretKey, '', 'tollgate statement key', 32))
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(privateKey)
  return { privateKey, ...describePublicKey(publicKey) }
}

export function describePublicKey(publicKey: KeyObject): Omit<StatementKey, 'privateKey'> {
  const der = publicKey.export({ format: 'der', type: 'spki' })
  const id = createHash('sha256').update(der).digest('hex').slice(0, 16)
  return { publicKey, id, pem: publicKey.export({ format: 'pem', type: 'spki' }).toString() }
}
