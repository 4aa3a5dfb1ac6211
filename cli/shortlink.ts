// domain …
import { formatTime } from '../contract/time.ts'
import type { PoolDomain } from '../server/shortlink/domains/store.ts'
import { addPoolDomain, isPool, removePoolDomain } from '../server/shortlink/domains/domains.ts'
import { listPoolDomains } from '../server/shortlink/redirect/lookup-store.ts'
import type { Pool } from '../server/shortlink/store.ts'
import { cliActor, type Command, Mistake, table } from './command.ts'

function poolOf(word: string): Pool {
  if (!isPool(word)) throw new Mistake('域名池只有 a 和 b / the pools are a and b')
  return word
}

/** `active` gets new links; the others only go on serving those they have. */
function stateOf(domain: PoolDomain): 'active' | 'blocked' | 'removed' {
  if (domain.removed === 1) return 'removed'
  return domain.blocked === 1 ? 'blocked' : 'active'
}

function describe(domain: PoolDomain) {
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
    text: { zh: '把域名加入短链接域名池', en: 'put a domain into a pool of link domains' },
    least: 2,
    most: 2,
    flags: {},
    async run({ installation: { db }, words }) {
      const pool = poolOf(words[0]!)
      const host = await addPoolDomain(db, cliActor, pool, words[1]!)
      return { json: { pool, host, state: 'active' }, text: `${pool} ${host}` }
    },
  },
  {
    name: 'domain remove',
    usage: 'a|b HOST',
    text: {
      zh: '移出域名池：不再分配新链接，旧链接照常可用',
      en: 'take a domain out: no new links, the old ones go on working',
    },
    least: 2,
    most: 2,
    flags: {},
    async run({ installation: { db }, words }) {
      const pool = poolOf(words[0]!)
      const host = await removePoolDomain(db, cliActor, pool, words[1]!)
      return { json: { pool, host, state: 'removed' }, text: `${pool} ${host}: 已移出 / removed` }
    },
  },
  {
    name: 'domain list',
    usage: '',
    text: { zh: '列出域名池', en: 'list the pools' },
    least: 0,
    most: 0,
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
