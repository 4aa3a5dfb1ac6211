// The command `link-domain`.
import { txtRecordOf } from '../contract/link-domains.ts'
import { formatTime } from '../contract/time.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { publicUrlOf } from '../server/config.ts'
import { createOwnDomainRules, type OwnDomainRules } from '../server/shortlink/own-domains/own-domains.ts'
import { listAllOwnDomains, type ListedOwnDomain } from '../server/shortlink/own-domains/store.ts'
import { createTxtLookup } from '../server/shortlink/own-domains/txt-records.ts'
import { untilLinksAreCurrent } from '../server/shortlink/redirect/until-current-store.ts'
import { cliActor, type Command, type Flags, type Invocation, table, textFlag } from './command.ts'

const maxListed = 10_000

function rulesOf({ installation: { db }, config }: Invocation): OwnDomainRules {
  const findTxt = createTxtLookup(config.DNS_SERVERS)
  return createOwnDomainRules({
    db,
    findTxt,
    publicUrl: () => publicUrlOf(config),
    untilLinksAreCurrent: () => untilLinksAreCurrent(db),
  })
}

async function accountFlag({ installation: { db } }: Invocation, flags: Flags): Promise<number | undefined> {
  const name = textFlag(flags, 'account')
  return name === undefined ? undefined : (await requireAccount(db, name)).id
}

const time = (at: number | null) => (at === null ? null : formatTime(at))

function describe(domain: ListedOwnDomain) {
  return {
    host: domain.host,
    username: domain.username,
    state: domain.verified_at === null ? 'unverified' : 'verified',
    ...txtRecordOf(domain.host, domain.token),
    blocked: domain.blocked === 1,
    verified_at: time(domain.verified_at),
    checked_at: time(domain.checked_at),
    added_at: formatTime(domain.added_at),
  }
}

export const linkDomainCommands: readonly Command[] = [
  {
    name: 'link-domain add',
    usage: 'NAME HOST',
    text: {
      zh: '为账户登记自有域名，返回要添加的 TXT 记录',
      en: 'register an own domain of an account; prints the TXT record to publish',
    },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run(invocation) {
      const { installation, words } = invocation
      const account = await requireAccount(installation.db, words[0]!)
      const { host, token } = await rulesOf(invocation).add(cliActor, account.id, words[1]!)
      const record = txtRecordOf(host, token)
      return { json: { host, ...record }, text: `${host}\nTXT ${record.txt_name} ${record.txt_value}` }
    },
  },
  {
    name: 'link-domain verify',
    usage: 'HOST [--account NAME]',
    text: {
      zh: '查询 TXT 记录并验证域名',
      en: 'look up the TXT record and verify the domain',
    },
    minWords: 1,
    maxWords: 1,
    flags: { account: { type: 'string' } },
    async run(invocation) {
      const { words, flags } = invocation
      const accountId = await accountFlag(invocation, flags)
      const domain = await rulesOf(invocation).verify(cliActor, words[0]!, accountId)
      const { host, username, state, verified_at } = describe(domain)
      return {
        json: { host, username, state, verified_at },
        text: `${host}: ${username} 已验证 / verified`,
      }
    },
  },
  {
    name: 'link-domain list',
    usage: '[--account NAME]',
    text: { zh: '列出自有域名', en: 'list the own domains of accounts' },
    minWords: 0,
    maxWords: 0,
    flags: { account: { type: 'string' } },
    async run(invocation) {
      const accountId = await accountFlag(invocation, invocation.flags)
      const domains = (await listAllOwnDomains(invocation.installation.db, maxListed))
        .filter((domain) => accountId === undefined || domain.account_id === accountId)
        .map(describe)
      return {
        json: { domains },
        text: table(
          ['host', 'account', 'state', 'added'],
          domains.map((one) => [one.host, one.username, one.state, one.added_at]),
        ),
      }
    },
  },
  {
    name: 'link-domain remove',
    usage: 'HOST [--account NAME]',
    text: {
      zh: '移除自有域名；不指定 --account 时移除所有账户对它的登记',
      en: 'remove an own domain; without --account every registration of the host is removed',
    },
    minWords: 1,
    maxWords: 1,
    flags: { account: { type: 'string' } },
    async run(invocation) {
      const { words, flags } = invocation
      const host = await rulesOf(invocation).remove(cliActor, words[0]!, await accountFlag(invocation, flags))
      return { json: { host, removed: true }, text: `${host}: 已移除 / removed` }
    },
  },
]
