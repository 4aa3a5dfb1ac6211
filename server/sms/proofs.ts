// Proof files of signatures: their type is read from their content, they are stored encrypted and only downloaded.
import { proofLimits } from '../../contract/sms-text.ts'
import { hasHiddenCharacters } from '../../contract/values.ts'
import type { Database } from '../db/database.ts'
import { createTextCipher } from '../encryption.ts'
import { AppError, invalidField } from '../http/errors.ts'
import { countProofs, deleteProof, findProof, insertProof, type ListedProof } from './proof-store.ts'
import { updateSignature } from './signature-store.ts'
import { lockOwnSignature, noSuchSignature } from './signatures.ts'

const signatures: readonly { readonly type: string; readonly bytes: readonly number[] }[] = [
  { type: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'application/pdf', bytes: [0x25, 0x50, 0x44, 0x46, 0x2d] },
]

/** By the first bytes; the name and the declared type of an upload prove nothing. */
function mediaTypeOf(content: Uint8Array): string | undefined {
  return signatures.find(({ bytes }) => bytes.every((byte, index) => content[index] === byte))?.type
}

export interface Proofs {
  /** A rejected signature is in review again. */
  add(
    accountId: number,
    signatureId: number,
    file: { readonly name: string; readonly content: string },
  ): Promise<ListedProof>
  remove(accountId: number, signatureId: number, id: number): Promise<void>
  /** Undefined accountId: for an operator. */
  read(
    accountId: number | undefined,
    id: number,
  ): Promise<{ readonly name: string; readonly content: Buffer }>
}

export function createProofs(db: Database, secretKey: string): Proofs {
  const cipher = createTextCipher(secretKey, 'tollgate sms proofs')
  return {
    async add(accountId, signatureId, { name: givenName, content: base64 }) {
      const name = givenName.trim()
      if (name === '' || [...name].length > proofLimits.nameLength || hasHiddenCharacters(name))
        throw invalidField('name', { zh: '文件名有误', en: 'the file name is not valid' })
      const content = Buffer.from(base64, 'base64')
      if (content.length === 0 || content.length > proofLimits.bytes)
        throw invalidField('content', {
          zh: `文件大小必须是 1 字节至 ${proofLimits.bytes / 1024} KB`,
          en: `a file has 1 byte to ${proofLimits.bytes / 1024} kB`,
        })
      const type = mediaTypeOf(content)
      if (type === undefined)
        throw invalidField('content', {
          zh: '只接受 PNG、JPEG 与 PDF 文件',
          en: 'only PNG, JPEG and PDF files are accepted',
        })
      const encrypted = cipher.encrypt(content.toString('base64'))
      return db.write(async (tx) => {
        const row = await lockOwnSignature(tx, accountId, signatureId)
        if (row.status === '审核通过') throw approved()
        const { files, bytes } = await countProofs(tx, accountId, signatureId)
        if (files >= proofLimits.perSignature || bytes + content.length > proofLimits.bytesPerAccount)
          throw invalidField('content', {
            zh: `每个签名最多 ${proofLimits.perSignature} 个文件，每个账户合计最多 ${proofLimits.bytesPerAccount / 1_048_576} MB`,
            en: `a signature has ${proofLimits.perSignature} files at most, an account ${proofLimits.bytesPerAccount / 1_048_576} MB in all`,
          })
        await updateSignature(tx, { ...row, status: '审核中', reason: '', revision: row.revision + 1 })
        return insertProof(tx, {
          signature_id: signatureId,
          account_id: accountId,
          name,
          media_type: type,
          size: content.length,
          content: encrypted,
        })
      })
    },

    async remove(accountId, signatureId, id) {
      await db.write(async (tx) => {
        const row = await lockOwnSignature(tx, accountId, signatureId)
        if (row.status === '审核通过') throw approved()
        if (!(await deleteProof(tx, signatureId, id))) throw noSuchSignature()
        await updateSignature(tx, { ...row, revision: row.revision + 1 })
      })
    },

    async read(accountId, id) {
      const proof = await findProof(db, id)
      if (!proof || (accountId !== undefined && proof.account_id !== accountId)) throw noSuchSignature()
      const base64 = cipher.decrypt(proof.content)
      if (base64 === undefined) throw noSuchSignature()
      return { name: proof.name, content: Buffer.from(base64, 'base64') }
    },
  }
}

function approved(): AppError {
  return new AppError(1002, {
    zh: '已通过审核的签名不能修改材料',
    en: 'The proofs of an approved signature cannot be changed',
  })
}
