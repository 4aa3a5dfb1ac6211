// The command `template`.
import { templateStates, templateTypes } from '../contract/sms-text.ts'
import { formatTime } from '../contract/time.ts'
import { oneLine } from '../contract/values.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { listAccounts } from '../server/accounts/store.ts'
import type { Database } from '../server/db/database.ts'
import {
  createTemplate,
  deleteTemplate,
  editTemplate,
  listTemplates,
  noSuchTemplate,
  reviewTemplate,
  type SmsTemplate,
} from '../server/sms/templates.ts'
import {
  choiceFlag,
  cliActor,
  type Command,
  type Flags,
  listFlag,
  noReason,
  table,
  textFlag,
  UsageError,
} from './command.ts'

export const templateCommands: readonly Command[] = [
  {
    name: 'template add',
    usage: `[NAME|--shared] --code C --name N --content '… \${code} …' [--type T] [--status ${templateStates.join('|')}] [--reason T] [--gateway aliyun=SMS_123456]`,
    text: {
      zh: '添加短信模板，默认为审核通过；--shared 为公共模板，所有账户可用',
      en: `add an approved SMS template; --shared: for every account; --type: ${templateTypes.join(', ')}`,
    },
    minWords: 0,
    maxWords: 1,
    flags: {
      shared: { type: 'boolean' },
      code: { type: 'string' },
      name: { type: 'string' },
      content: { type: 'string' },
      type: { type: 'string' },
      status: { type: 'string' },
      reason: { type: 'string' },
      gateway: { type: 'string', multiple: true },
    },
    async run({ installation: { db }, words, flags }) {
      const [username] = words
      if ((username === undefined) !== (flags['shared'] === true)) {
        throw new UsageError('必须指明账户或 --shared 之一 / specify either an account or --shared')
      }
      const account = username === undefined ? undefined : await requireAccount(db, username)
      const status = choiceFlag(flags, 'status', templateStates) ?? '审核通过'
      const made = await createTemplate(db, cliActor, {
        accountId: account?.id ?? null,
        code: requireFlag(flags, 'code'),
        name: requireFlag(flags, 'name'),
        type: choiceFlag(flags, 'type', templateTypes),
        content: requireFlag(flags, 'content'),
        status,
        reason: textFlag(flags, 'reason') ?? noReason,
        gatewayCodes: gatewayCodes(flags),
      })
      return shown(made, username)
    },
  },
  {
    name: 'template edit',
    usage: 'ID [--name N] [--content T] [--gateway aliyun=SMS_123456]',
    text: {
      zh: '修改短信模板；改动名称或内容后重新进入审核',
      en: 'change an SMS template; a new name or content needs another review',
    },
    minWords: 1,
    maxWords: 1,
    flags: {
      name: { type: 'string' },
      content: { type: 'string' },
      gateway: { type: 'string', multiple: true },
    },
    async run({ installation: { db }, words, flags }) {
      const name = textFlag(flags, 'name')
      const content = textFlag(flags, 'content')
      const changed = await editTemplate(db, cliActor, requireId(words[0]!), {
        ...(name === undefined ? {} : { name }),
        ...(content === undefined ? {} : { content }),
        ...(listFlag(flags, 'gateway').length === 0 ? {} : { gatewayCodes: gatewayCodes(flags) }),
      })
      return shown(changed, await ownerOf(db, changed))
    },
  },
  {
    name: 'template review',
    usage: `ID --status ${templateStates.join('|')} [--reason T]`,
    text: { zh: '审核短信模板', en: 'review an SMS template' },
    minWords: 1,
    maxWords: 1,
    flags: { status: { type: 'string' }, reason: { type: 'string' } },
    async run({ installation: { db }, words, flags }) {
      const status = choiceFlag(flags, 'status', templateStates)
      if (!status) throw new UsageError('缺少 --status / --status is required')
      const reviewed = await reviewTemplate(db, cliActor, requireId(words[0]!), {
        status,
        reason: textFlag(flags, 'reason') ?? noReason,
      })
      return shown(reviewed, await ownerOf(db, reviewed))
    },
  },
  {
    name: 'template set',
    usage: `CODE --status ${templateStates.join('|')} [--account NAME|--shared] [--reason T]`,
    text: {
      zh: '按编号审核短信模板；多个账户使用同一编号时用 --account 指明',
      en: 'review an SMS template by its code; --account says whose, if several accounts use the code',
    },
    minWords: 1,
    maxWords: 1,
    flags: {
      status: { type: 'string' },
      reason: { type: 'string' },
      account: { type: 'string' },
      shared: { type: 'boolean' },
    },
    async run({ installation: { db }, words, flags }) {
      const status = choiceFlag(flags, 'status', templateStates)
      if (!status) throw new UsageError('缺少 --status / --status is required')
      const username = textFlag(flags, 'account')
      const accountId =
        flags['shared'] === true
          ? null
          : username === undefined
            ? undefined
            : (await requireAccount(db, username)).id
      const found = await listTemplates(db, cliActor, { code: words[0]!, accountId })
      if (found.length === 0) throw noSuchTemplate()
      if (found.length > 1)
        throw new UsageError(
          `多个账户使用编号 ${words[0]}，请用 --account 或 --shared 指明 / several accounts use this code, specify --account or --shared`,
        )
      const reviewed = await reviewTemplate(db, cliActor, found[0]!.id, {
        status,
        reason: textFlag(flags, 'reason') ?? noReason,
      })
      return shown(reviewed, await ownerOf(db, reviewed))
    },
  },
  {
    name: 'template remove',
    usage: 'ID',
    text: { zh: '删除短信模板', en: 'delete an SMS template' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const id = requireId(words[0]!)
      await deleteTemplate(db, cliActor, id)
      return { json: { id, removed: true }, text: `${id}: 已删除 / removed` }
    },
  },
  {
    name: 'template list',
    usage: `[--status ${templateStates.join('|')}]`,
    text: { zh: '列出短信模板', en: 'list SMS templates' },
    minWords: 0,
    maxWords: 0,
    flags: { status: { type: 'string' } },
    async run({ installation: { db }, flags }) {
      const status = choiceFlag(flags, 'status', templateStates)
      const names = new Map((await listAccounts(db)).map(({ id, username }) => [id, username]))
      const templates = (await listTemplates(db, cliActor, status ? { status } : {})).map((template) =>
        describe(template, template.accountId === null ? undefined : names.get(template.accountId)),
      )
      return {
        json: { templates },
        text: table(
          ['id', 'account', 'code', 'status', 'content'],
          templates.map((one) => [
            one.id,
            one.username ?? 'shared',
            one.template_code,
            one.status,
            one.template_content,
          ]),
        ),
      }
    },
  },
]

function describe(template: SmsTemplate, username: string | undefined) {
  return {
    id: template.id,
    username: username ?? null,
    shared: template.accountId === null,
    template_code: template.code,
    template_name: template.name,
    template_content: template.content,
    type: template.type,
    variables: template.variables,
    status: template.status,
    reason: template.reason,
    gateways: template.gatewayCodes,
    updated_at: formatTime(template.updatedAt),
  }
}

function shown(template: SmsTemplate, username: string | undefined) {
  return {
    json: describe(template, username),
    text: `${template.id}  ${username ?? 'shared'}  ${template.code}  ${template.status}  ${oneLine(template.content)}`,
  }
}

async function ownerOf(db: Database, template: SmsTemplate): Promise<string | undefined> {
  return (await listAccounts(db)).find(({ id }) => id === template.accountId)?.username
}

function requireFlag(flags: Flags, name: string): string {
  const value = textFlag(flags, name)
  if (value === undefined) throw new UsageError(`缺少 --${name} / --${name} is required`)
  return value
}

function gatewayCodes(flags: Flags): Record<string, string> {
  return Object.fromEntries(
    listFlag(flags, 'gateway').map((item): [string, string] => {
      const mark = item.indexOf('=')
      if (mark < 1)
        throw new UsageError(`--gateway 必须形如 aliyun=SMS_123456 / must look like this: ${item}`)
      return [item.slice(0, mark), item.slice(mark + 1)]
    }),
  )
}

function requireId(word: string): number {
  if (/^[1-9]\d{0,14}$/.test(word)) return Number(word)
  throw new UsageError(
    `ID 必须是正整数，见 template list / a template's id is a number, see template list: ${word}`,
  )
}
