// The commands `webhook`.
import { formatTime } from '../contract/time.ts'
import { publicUrlOf } from '../server/config.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { createEventRules } from '../server/events/delivery.ts'
import { type EndpointRow, findEndpoint, listDeliveries, listEndpoints } from '../server/events/store.ts'
import { listEventTypes, webhookNotFound, type Webhooks } from '../server/events/webhooks.ts'
import { cliActor, type Command, type Invocation, idOf, readSecrets, table, textFlag } from './command.ts'

const shownDeliveries = 100

function rulesOf({ installation: { db, secretKey }, config }: Invocation): Webhooks {
  return createEventRules({ db, secretKey, config, publicUrl: () => publicUrlOf(config) }).webhooks
}

async function endpointOf({ installation: { db }, words }: Invocation): Promise<EndpointRow> {
  const endpoint = await findEndpoint(db, idOf(words[0]!))
  if (endpoint?.kind !== 'webhook') throw webhookNotFound()
  return endpoint
}

function describe(endpoint: EndpointRow) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: listEventTypes(endpoint.event_types),
    state: endpoint.state,
    disabled_reason: endpoint.disabled_reason,
    created_at: formatTime(endpoint.created_at),
  }
}

export const webhookCommands: readonly Command[] = [
  {
    name: 'webhook add',
    usage: 'NAME URL [--events a,b]',
    text: {
      zh: '添加 Webhook，密钥仅显示一次；默认接收全部事件；URL 为 - 时从标准输入读取',
      en: 'add a webhook, by default for all events; its secret is shown once; - as URL reads stdin',
    },
    minWords: 2,
    maxWords: 2,
    flags: { events: { type: 'string' } },
    async run(invocation) {
      const { installation, words, flags } = invocation
      const account = await requireAccount(installation.db, words[0]!)
      const [given] = await readSecrets([['URL', words[1]!]])
      const input = { url: given!, events: (textFlag(flags, 'events') ?? '').split(',') }
      const { id, secret } = await rulesOf(invocation).add(cliActor, account.id, input)
      const { url, events } = describe((await findEndpoint(installation.db, id))!)
      return { json: { id, url, events, secret }, text: `${id} ${url}\n${secret}` }
    },
  },
  {
    name: 'webhook list',
    usage: 'NAME',
    text: { zh: '列出账户的 Webhook', en: 'list the webhooks of an account' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const account = await requireAccount(db, words[0]!)
      const webhooks = (await listEndpoints(db, account.id, 'webhook')).map(describe)
      return {
        json: { webhooks },
        text: table(
          ['id', 'url', 'events', 'state'],
          webhooks.map((one) => [one.id, one.url, one.events.join(','), one.state]),
        ),
      }
    },
  },
  {
    name: 'webhook remove',
    usage: 'ID',
    text: { zh: '删除 Webhook', en: 'remove a webhook' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const endpoint = await endpointOf(invocation)
      await rulesOf(invocation).remove(cliActor, endpoint)
      return { json: { id: endpoint.id, removed: true }, text: `${endpoint.id}: 已删除 / removed` }
    },
  },
  {
    name: 'webhook test',
    usage: 'ID',
    text: { zh: '发送测试事件 ping', en: 'send the test event ping' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const endpoint = await endpointOf(invocation)
      const delivery = await rulesOf(invocation).test(endpoint)
      return { json: { id: endpoint.id, delivery }, text: `${delivery}: 已排队 / queued` }
    },
  },
  {
    name: 'webhook rotate',
    usage: 'ID',
    text: {
      zh: '更换密钥；旧密钥在一天内仍参与签名',
      en: 'rotate the secret; the old one also signs for a day',
    },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const secret = await rulesOf(invocation).rotate(cliActor, await endpointOf(invocation))
      return { json: { secret }, text: secret }
    },
  },
  {
    name: 'webhook deliveries',
    usage: 'ID',
    text: { zh: '最近的投递记录', en: 'list the latest deliveries' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const endpoint = await endpointOf(invocation)
      const rows = await listDeliveries(invocation.installation.db, endpoint.id, {
        before: undefined,
        limit: shownDeliveries,
      })
      const deliveries = rows.map((row) => ({
        id: row.id,
        event: row.uid,
        type: row.type,
        state: row.state,
        attempts: row.attempts,
        status: row.last_status,
        error: row.last_error,
        created_at: formatTime(row.created_at),
        next_attempt_at: row.state === 'pending' ? formatTime(row.due_at) : null,
      }))
      return {
        json: { deliveries },
        text: table(
          ['id', 'type', 'state', 'attempts', 'status', 'created'],
          deliveries.map((one) => [one.id, one.type, one.state, one.attempts, one.status, one.created_at]),
        ),
      }
    },
  },
  {
    name: 'webhook resend',
    usage: 'DELIVERY',
    text: { zh: '重新投递一次', en: 'send a delivery again' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const id = idOf(invocation.words[0]!)
      await rulesOf(invocation).resend(cliActor, id)
      return { json: { delivery: id, state: 'pending' }, text: `${id}: 已排队 / queued` }
    },
  },
]
