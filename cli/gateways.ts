// The command `gateway`.
import { recordChange } from '../server/audit/audit.ts'
import { type Config, publicUrlOf } from '../server/config.ts'
import { deriveSecret } from '../server/runtime/installation.ts'
import { createReceiptSources, receiptPath, smsGateways } from '../server/sms/gateways.ts'
import { cliActor, type Command, UsageError, type Output, table } from './command.ts'
import { testDomainGateway } from './domain-check.ts'
import { testIdentityGateway } from './identity.ts'

/** The gateways of one product. */
interface Group {
  readonly configured: (config: Config) => readonly string[]
  readonly test: (config: Config, name: string) => Promise<Output>
}

const groups: Readonly<Record<string, Group>> = {
  sms: { configured: (config) => config.SMS_GATEWAYS, test: testSmsGateway },
  identity: { configured: (config) => config.IDENTITY_GATEWAYS, test: testIdentityGateway },
  domain: { configured: (config) => config.DOMAIN_GATEWAYS, test: testDomainGateway },
}

export const gatewayCommands: readonly Command[] = [
  {
    name: 'gateway list',
    usage: '',
    text: { zh: '列出网关与回执地址', en: 'list gateways and receipt URLs' },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ config, installation: { secretKey } }) {
      const base = publicUrlOf(config)
      const sources = createReceiptSources(config, (purpose) => deriveSecret(secretKey, purpose))
      const receiptUrl = (name: string) => {
        const source = sources.get(name)
        return source ? base + receiptPath(name, source.secret) : null
      }
      const gateways = Object.entries(groups).flatMap(([group, { configured }]) =>
        configured(config).map((name, index) => ({
          group,
          name,
          order: index + 1,
          receipts: group === 'sms' ? receiptUrl(name) : null,
        })),
      )
      return {
        json: { gateways },
        text: table(
          ['group', 'order', 'name', 'receipts'],
          gateways.map((one) => [one.group, one.order, one.name, one.receipts]),
        ),
      }
    },
  },
  {
    name: 'gateway test',
    usage: `${Object.keys(groups).join('|')} NAME`,
    text: {
      zh: '测试网关连接与凭据；不发送短信，身份核验与域名检测会真实调用一次，服务商可能计费',
      en: 'test connection and credentials; sends no SMS, identity and domain send one request that may be billed',
    },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run({ config, installation: { db }, words }) {
      const [groupName, name] = words as [string, string]
      const group = Object.hasOwn(groups, groupName) ? groups[groupName] : undefined
      if (!group)
        throw new UsageError(`网关类型不存在，可选 ${Object.keys(groups).join('、')} / no such group`)
      if (!group.configured(config).includes(name)) throw notConfigured(groupName, name)
      const output = await group.test(config, name)
      const ok = output.failed !== true
      await db.write((tx) => recordChange(tx, cliActor, 'gateway.test', `${groupName} ${name}`, { ok }))
      return output
    },
  },
]

/** Tests the connection and the credentials. Sends no SMS. */
async function testSmsGateway(config: Config, name: string): Promise<Output> {
  const known = config.SMS_GATEWAYS.find((one) => one === name)
  if (!known) throw notConfigured('sms', name)
  const { ok, detail } = await smsGateways[known](config).probe()
  return {
    json: { group: 'sms', name, ok, detail },
    text: `sms ${name}: ${ok ? '正常 / ok' : '不可用 / not usable'} (${detail})`,
    failed: !ok,
  }
}

function notConfigured(group: string, name: string): UsageError {
  return new UsageError(
    `网关 ${name} 未在 ${group.toUpperCase()}_GATEWAYS 中配置 / the gateway is not configured`,
  )
}
