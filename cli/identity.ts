// The command `identity`, and `gateway test` for identity gateways.
import type { Config } from '../server/config.ts'
import { createIdentityGateways, samplePerson } from '../server/identity/gateways.ts'
import { replaceHashSeed } from '../server/identity/store.ts'
import { cliActor, type Command, UsageError, type Output } from './command.ts'

export const identityCommands: readonly Command[] = [
  {
    name: 'identity rotate-secret',
    usage: '',
    text: {
      zh: '更换核验记录哈希的密钥，旧记录不再参与比对',
      en: 'replace the secret of the record hashes; older records no longer match',
    },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ installation: { db } }) {
      const { generation } = await db.write((tx) => replaceHashSeed(tx, cliActor))
      return {
        json: { generation },
        text: `第 ${generation} 代密钥已启用 / generation ${generation} is active`,
      }
    },
  },
]

/** One real question to one configured gateway. A verdict of any kind shows that it works; the vendor may bill it. */
export async function testIdentityGateway(config: Config, name: string): Promise<Output> {
  const gateway = createIdentityGateways(config).find((one) => one.name === name)
  if (!gateway) {
    throw new UsageError(
      `IDENTITY_GATEWAYS 中没有 ${name}，现有 ${config.IDENTITY_GATEWAYS.join('、')} / is not in IDENTITY_GATEWAYS`,
    )
  }
  const startedAt = performance.now()
  const outcome = await gateway.call((one, signal) => one.verify(samplePerson, signal))
  const ms = Math.round(performance.now() - startedAt)
  const ok = outcome.kind === 'accepted'
  const detail = ok ? outcome.value.verdict : `${outcome.kind} ${outcome.reason}`
  return {
    json: { group: 'identity', name, ok, detail, ms },
    text: `identity ${name}: ${ok ? 'ok' : 'failed'}, ${detail}, ${ms} ms`,
    failed: !ok,
  }
}
