// The command `domain`.
import { formatTime } from '../contract/time.ts'
import type { PoolDomainRow } from '../server/shortlink/domains/store.ts'
import { addPoolDomain, isPool, removePoolDomain } from '../server/shortlink/domains/domains.ts'
import { listPoolDomains } from '../server/shortlink/redirect/lookup-store.ts'
import { untilLinksAreCurrent } from '../server/shortlink/redirect/until-current-store.ts'
import type { DomainPool } from '../server/shortlink/store.ts'
import { cliActor, type Command, UsageError, table } from './command.ts'

function poolOf(word: string): DomainPool {
  if (!isPool(word)) throw new UsageError('域名池只有 a 和 b / the pools are a and b')
  return word
}

/** `active` domains get new links; the others only serve existing links. */
function stateOf(domain: PoolDomainRow): 'active' | 'blocked' | 'removed' {
  if (domain.removed === 1) return 'removed'
  return domain.blocked === 1 ? 'blocked' : 'active'
}

function describe(domain: PoolDomainRow) {
  return {
    pool: domain.pool,
    host: domain.host,
    state: stateOf(domain),
    blocked: domain.blocked === 1,
    blocked_at: domain.blocked_at === null ? null : formatTime(domain.blocked_at),
    added_at: formatTime(domain.added_at),
  }
}

export const domainCommands: readonly Command[] = [
  {
    name: 'domain add',
    usage: 'a|b HOST',
    text: { zh: '把域名加入短链接域名池', en: 'add a domain to a link domain pool' },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run({ installation: { db }, words }) {
      const pool = poolOf(words[0]!)
      const host = await addPoolDomain(db, cliActor, pool, words[1]!)
      await untilLinksAreCurrent(db)
      return { json: { pool, host, state: 'active' }, text: `${pool} ${host}` }
    },
  },
  {
    name: 'domain remove',
    usage: 'a|b HOST',
    text: {
      zh: '移出域名池：不再分配新链接，旧链接照常可用',
      en: 'remove a domain from a pool: it gets no new links, existing links keep working',
    },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run({ installation: { db }, words }) {
      const pool = poolOf(words[0]!)
      const host = await removePoolDomain(db, cliActor, pool, words[1]!)
      await untilLinksAreCurrent(db)
      return { json: { pool, host, state: 'removed' }, text: `${pool} ${host}: 已移出 / removed` }
    },
  },
  {
    name: 'domain list',
    usage: '',
    text: { zh: '列出域名池', en: 'list the domain pools' },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ installation: { db } }) {
      const domains = (await listPoolDomains(db)).map(describe)
      return {
        json: { domains },
        text: table(
          ['pool', 'host', 'state', 'added'],
          domains.map((one) => [one.pool, one.host, one.state, one.added_at]),
        ),
      }
    },
  },
]
