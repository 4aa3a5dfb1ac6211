// The command `ban`.
import { formatTime } from '../contract/time.ts'
import {
  type BanRules,
  type BanTarget,
  createBanRules,
  readBanTarget,
} from '../server/shortlink/bans/bans.ts'
import { type Ban, listBans } from '../server/shortlink/bans/store.ts'
import { loadCodes } from '../server/shortlink/codes/store.ts'
import { untilLinksAreCurrent } from '../server/shortlink/redirect/until-current-store.ts'
import { cliActor, type Command, type Invocation, table, textFlag, UsageError } from './command.ts'

const maxListed = 10_000

/** The service marks what is left. */
const maxMarkingMs = 10_000

function targetOf(word: string): BanTarget {
  const target = readBanTarget(word)
  if (!target) throw new UsageError('写成 link:短码 或 host:域名 / write link:CODE or host:HOST')
  return target
}

async function rulesOf({ installation: { db } }: Invocation) {
  return createBanRules(db, await loadCodes(db), () => untilLinksAreCurrent(db))
}

async function markLinks({ mark }: BanRules): Promise<void> {
  const deadline = Date.now() + maxMarkingMs
  await mark(() => Date.now() < deadline)
}

function describe({ host, link_id, code, note, created_by, created_at }: Ban) {
  return {
    ban: host === null ? `link:${code}` : `host:${host}`,
    link_id,
    note,
    created_by,
    created_at: formatTime(created_at),
  }
}

export const banCommands: readonly Command[] = [
  {
    name: 'ban add',
    usage: 'link:CODE|host:HOST [--note T]',
    text: {
      zh: '封禁短链接，或域名及其所有子域名',
      en: 'ban a short link, or a host and all its subdomains',
    },
    minWords: 1,
    maxWords: 1,
    flags: { note: { type: 'string' } },
    async run(invocation) {
      const target = targetOf(invocation.words[0]!)
      const rules = await rulesOf(invocation)
      const note = textFlag(invocation.flags, 'note') ?? ''
      const ban = await rules.add(cliActor, target, note)
      await markLinks(rules)
      return { json: { ban, note }, text: `${ban}: 已封禁 / banned` }
    },
  },
  {
    name: 'ban list',
    usage: '',
    text: { zh: '列出封禁', en: 'list the bans' },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ installation: { db } }) {
      const bans = (await listBans(db, maxListed)).map(describe)
      return {
        json: { bans },
        text: table(
          ['ban', 'note', 'by', 'at'],
          bans.map((one) => [one.ban, one.note, one.created_by, one.created_at]),
        ),
      }
    },
  },
  {
    name: 'ban remove',
    usage: 'link:CODE|host:HOST',
    text: { zh: '解除封禁，链接恢复可用', en: 'remove a ban; the links work again' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const rules = await rulesOf(invocation)
      const ban = await rules.remove(cliActor, targetOf(invocation.words[0]!))
      await markLinks(rules)
      return { json: { ban, removed: true }, text: `${ban}: 已解除 / removed` }
    },
  },
]
