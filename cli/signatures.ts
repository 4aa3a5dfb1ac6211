// The commands `signature` and `stop`.
import { signatureTypes, templateStates } from '../contract/sms-text.ts'
import { formatTime } from '../contract/time.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import type { Account } from '../server/accounts/store.ts'
import type { Database } from '../server/db/database.ts'
import { findSignature } from '../server/sms/signature-store.ts'
import {
  type SignatureDetails,
  addSignature,
  listSignatures,
  noSuchSignature,
  reviewSignature,
} from '../server/sms/signatures.ts'
import { addStop, removeStop } from '../server/sms/stop-list.ts'
import { findStops } from '../server/sms/stop-store.ts'
import { choiceFlag, cliActor, type Command, noReason, table, textFlag, UsageError } from './command.ts'

const states = templateStates.join('|')

/** More than an account can have. */
const shownStops = 100_000

export const signatureCommands: readonly Command[] = [
  {
    name: 'signature add',
    usage: `NAME SIGN [--status ${states}] [--type ${signatureTypes.join('|')}] [--reason T]`,
    text: {
      zh: '添加签名，默认为审核通过；账户的第一个签名成为默认签名',
      en: "add a signature, approved by default; the account's first one becomes its default",
    },
    minWords: 2,
    maxWords: 2,
    flags: { status: { type: 'string' }, type: { type: 'string' }, reason: { type: 'string' } },
    async run({ installation: { db }, words, flags }) {
      const account = await requireAccount(db, words[0]!)
      const type = choiceFlag(flags, 'type', signatureTypes)
      const { sign_name: signName } = await addSignature(db, cliActor, account.id, {
        signName: words[1]!,
        ...(type && { type }),
        status: choiceFlag(flags, 'status', templateStates) ?? '审核通过',
        reason: textFlag(flags, 'reason') ?? noReason,
      })
      return showOne(db, account, signName)
    },
  },
  {
    name: 'signature list',
    usage: 'NAME',
    text: { zh: '列出账户的签名', en: 'list the signatures of an account' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const account = await requireAccount(db, words[0]!)
      const signatures = (await listSignatures(db, account.id)).map(describe)
      return {
        json: { username: account.username, signatures },
        text: table(
          ['sign_name', 'type', 'state', 'default', 'reason'],
          signatures.map((one) => [one.sign_name, one.type, one.state, one.is_default, one.reason]),
        ),
      }
    },
  },
  {
    name: 'signature set',
    usage: `NAME SIGN --status ${states} [--reason T]`,
    text: { zh: '审核签名', en: 'review a signature' },
    minWords: 2,
    maxWords: 2,
    flags: { status: { type: 'string' }, reason: { type: 'string' } },
    async run({ installation: { db }, words, flags }) {
      const status = choiceFlag(flags, 'status', templateStates)
      if (!status) throw new UsageError('缺少 --status / --status is required')
      const account = await requireAccount(db, words[0]!)
      const signature = await findSignature(db, account.id, words[1]!.trim())
      if (!signature) throw noSuchSignature()
      const reason = textFlag(flags, 'reason') ?? noReason
      await reviewSignature(db, cliActor, signature.id, { status, reason })
      return showOne(db, account, signature.sign_name)
    },
  },
  {
    name: 'stop list',
    usage: 'NAME',
    text: { zh: '列出账户的退订名单', en: 'list the stop list of an account' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const account = await requireAccount(db, words[0]!)
      const stops = (await findStops(db, account.id, { limit: shownStops })).map((stop) => ({
        phone_number: stop.phone,
        sign_name: stop.sign_name,
        source: stop.source,
        created_at: formatTime(stop.created_at),
      }))
      return {
        json: { username: account.username, stops },
        text: table(
          ['phone_number', 'sign_name', 'source', 'created'],
          stops.map((one) => [one.phone_number, one.sign_name || '*', one.source, one.created_at]),
        ),
      }
    },
  },
  {
    name: 'stop add',
    usage: 'NAME PHONE [--sign-name S]',
    text: {
      zh: '把号码加入退订名单；不指定 --sign-name 时对全部签名有效',
      en: 'add a number to the stop list, for all signatures unless --sign-name is given',
    },
    minWords: 2,
    maxWords: 2,
    flags: { 'sign-name': { type: 'string' } },
    async run({ installation: { db }, words, flags }) {
      const account = await requireAccount(db, words[0]!)
      const input = { phone: words[1]!, signName: textFlag(flags, 'sign-name') }
      const added = await addStop(db, cliActor, account, input)
      return {
        json: {
          username: account.username,
          phone_number: input.phone.trim(),
          sign_name: input.signName?.trim() ?? '',
          added,
        },
        text: `${input.phone.trim()}: ${added ? '已加入 / added' : '已在名单中 / listed already'}`,
      }
    },
  },
  {
    name: 'stop remove',
    usage: 'NAME PHONE [--sign-name S]',
    text: {
      zh: '把号码移出退订名单；不指定 --sign-name 时移出全部签名',
      en: 'remove a number from the stop list, for all signatures unless --sign-name is given',
    },
    minWords: 2,
    maxWords: 2,
    flags: { 'sign-name': { type: 'string' } },
    async run({ installation: { db }, words, flags }) {
      const account = await requireAccount(db, words[0]!)
      const phone = words[1]!.trim()
      const signName = textFlag(flags, 'sign-name')?.trim()
      const removed = await removeStop(db, cliActor, account, { phone, signName })
      if (removed === 0) throw new UsageError(`${phone} 不在退订名单中 / is not on the stop list`)
      return {
        json: { username: account.username, phone_number: phone, removed: true },
        text: `${phone}: 已移出 / removed`,
      }
    },
  },
]

function describe(signature: SignatureDetails) {
  return {
    id: signature.id,
    sign_name: signature.sign_name,
    type: signature.type,
    state: signature.status,
    reason: signature.reason,
    is_default: signature.isDefault,
    updated_at: formatTime(signature.updated_at),
  }
}

async function showOne(db: Database, account: Account, signName: string) {
  const found = (await listSignatures(db, account.id)).find(({ sign_name: name }) => name === signName)
  if (!found) throw noSuchSignature()
  const json = { username: account.username, ...describe(found) }
  return { json, text: `${account.username}  ${found.sign_name}  ${found.status}` }
}
