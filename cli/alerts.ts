// The commands `notify`: alert channels of an account or an operator.
import { formatTime } from '../contract/time.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { publicUrlOf } from '../server/config.ts'
import { type Alerts, channelNotFound } from '../server/events/alerts.ts'
import { createEventRules } from '../server/events/delivery.ts'
import { type EndpointRow, findEndpoint, listEndpoints } from '../server/events/store.ts'
import { cliActor, type Command, type Invocation, idOf, readSecrets, table, textFlag } from './command.ts'

function rulesOf({ installation: { db, secretKey }, config }: Invocation): Alerts {
  return createEventRules({ db, secretKey, config, publicUrl: () => publicUrlOf(config) }).alerts
}

async function channelOf({ installation: { db }, words }: Invocation): Promise<EndpointRow> {
  const endpoint = await findEndpoint(db, idOf(words[0]!))
  if (!endpoint || endpoint.kind === 'webhook') throw channelNotFound()
  return endpoint
}

export const alertCommands: readonly Command[] = [
  {
    name: 'notify add',
    usage: 'NAME mail|dingtalk|wecom|feishu TARGET [--secret S]',
    text: {
      zh: '添加告警接收方式，并发送确认码；TARGET 或 --secret 为 - 时从标准输入读取，每项一行',
      en: 'add an alert channel and send it a confirmation code; - as TARGET or --secret reads a line of stdin',
    },
    minWords: 3,
    maxWords: 3,
    flags: { secret: { type: 'string' } },
    async run(invocation) {
      const { installation, words, flags } = invocation
      const account = await requireAccount(installation.db, words[0]!)
      // The URL of a robot is a credential, too.
      const [target, secret] = await readSecrets([
        ['TARGET', words[2]!],
        ['--secret', textFlag(flags, 'secret')],
      ])
      const { id, sent } = await rulesOf(invocation).add(cliActor, account, {
        kind: words[1]!,
        target: target!,
        secret,
        language: 'zh',
      })
      const text = sent ? '已发送确认码 / code sent' : '确认码发送失败 / the code could not be sent'
      return { json: { id, kind: words[1]!, state: 'unconfirmed', sent }, text: `${id}: ${text}` }
    },
  },
  {
    name: 'notify list',
    usage: 'NAME',
    text: { zh: '列出告警接收方式', en: 'list the alert channels' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const { db } = invocation.installation
      const account = await requireAccount(db, invocation.words[0]!)
      const rules = rulesOf(invocation)
      const channels = (await listEndpoints(db, account.id, 'alert')).map((endpoint) => ({
        id: endpoint.id,
        kind: endpoint.kind,
        target: rules.describeTarget(endpoint),
        state: endpoint.state,
        created_at: formatTime(endpoint.created_at),
      }))
      return {
        json: { channels },
        text: table(
          ['id', 'kind', 'target', 'state'],
          channels.map((one) => [one.id, one.kind, one.target, one.state]),
        ),
      }
    },
  },
  {
    name: 'notify confirm',
    usage: 'ID',
    text: { zh: '不用确认码，直接确认', en: 'confirm a channel without its code' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const channel = await channelOf(invocation)
      await rulesOf(invocation).confirmByOperator(cliActor, channel)
      return { json: { id: channel.id, state: 'active' }, text: `${channel.id}: 已确认 / confirmed` }
    },
  },
  {
    name: 'notify remove',
    usage: 'ID',
    text: { zh: '删除告警接收方式', en: 'remove an alert channel' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const channel = await channelOf(invocation)
      await rulesOf(invocation).remove(cliActor, channel)
      return { json: { id: channel.id, removed: true }, text: `${channel.id}: 已删除 / removed` }
    },
  },
]
