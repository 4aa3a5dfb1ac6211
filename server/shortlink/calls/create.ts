// The operations that create links: `generate` and `generate_batch`.
import { linkLimits, shortlink } from '../../../contract/shortlink.ts'
import { isRecord } from '../../../contract/values.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../../accounts/authenticate.ts'
import { pricesOf } from '../../accounts/prices.ts'
import { type Call, readCallParameters } from '../../http/call.ts'
import { AppError } from '../../http/errors.ts'
import { type InvalidParameter, parameterError, readParameters } from '../../http/parameters.ts'
import { type ApiResponse, shortlinkSuccess } from '../../http/responses.ts'
import type { Services } from '../../services.ts'
import type { CheckedLink, Links } from '../links.ts'
import { requireNoConflicts } from '../options/conflicts.ts'
import type { Lookup, Pools } from '../redirect/lookup-store.ts'
import { CodeTaken } from '../store.ts'
import { requireValid, missingError } from './input.ts'

export interface CreateCalls {
  generate(call: Call, caller: Caller): Promise<ApiResponse>
  generateBatch(call: Call, caller: Caller): Promise<ApiResponse>
}

const { generate: generateOperation, generate_batch: batchOperation } = shortlink.operations

export function createCreateCalls(
  { config, paidCalls, runBatch }: Pick<Services, 'config' | 'paidCalls' | 'runBatch'>,
  links: Links,
  lookup: Lookup,
): CreateCalls {
  const readPools = async () => lookup.cachedPools() ?? (await lookup.pools())

  return {
    async generate(call, caller) {
      const result = readCallParameters(call, generateOperation.parameters)
      const pools = lookup.cachedPools() ?? (await lookup.pools())
      const checked = links.check(result.values, pools)
      const invalid =
        checked.problems.length === 0 ? result.invalid : [...result.invalid, ...checked.problems]
      const values = requireValid({ ...result, invalid }, 'generate')
      const purchase = { action: 'shortlink.generate', values, answerIfInterrupted }
      const replay = await paidCalls.findReplay(call, caller, purchase)
      if (replay) return replay
      requireNotSuspended(caller.account)
      requireNotExpired(caller.account, 400)
      if (checked.options !== undefined)
        requireNoConflicts(await links.findConflicts(caller.account.id, [checked]), false)
      const inSameTransaction = await links.prepareCreate(
        caller.account.id,
        checked,
        (created, { remaining }) => {
          const answer = shortlinkSuccess({ ...created, remaining_balance: remaining })
          return { value: answer, response: answer }
        },
      )
      const paid = await withFreeCodes(() =>
        paidCalls.charge<ApiResponse>(call, caller, {
          ...purchase,
          apiType: 'short_link',
          cost: pricesOf(caller.account, config.PRICES).generate,
          insufficient: noGenerations,
          inSameTransaction,
        }),
      )
      return paid.replay ?? paid.value
    },

    generateBatch: (call, caller) => runBatch(caller.account.id, () => generateBatch(call, caller)),
  }

  async function generateBatch(call: Call, caller: Caller): Promise<ApiResponse> {
    const result = readCallParameters(call, batchOperation.parameters)
    const values = requireValid(result, 'generate_batch')
    const list = readBatch(links, values.links, await readPools())
    const purchase = { action: 'shortlink.generate_batch', values, answerIfInterrupted }
    const replay = await paidCalls.findReplay(call, caller, purchase)
    if (replay) return replay
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 400)
    requireNoConflicts(await links.findConflicts(caller.account.id, list), true)
    const inSameTransaction = await links.prepareBatch(caller.account.id, list, (created, { remaining }) => {
      const answer = shortlinkSuccess({
        links: created.map((one, index) => ({ index, ...one })),
        remaining_balance: remaining,
      })
      return { value: answer, response: answer }
    })
    const paid = await withFreeCodes(() =>
      paidCalls.charge<ApiResponse>(call, caller, {
        ...purchase,
        apiType: 'short_link',
        cost: pricesOf(caller.account, config.PRICES).generate * list.length,
        insufficient: noGenerations,
        inSameTransaction,
      }),
    )
    return paid.replay ?? paid.value
  }
}

/** When a new code is taken, nothing of the charge was written, and the next codes are elsewhere. */
async function withFreeCodes<T>(charge: () => Promise<T>): Promise<T> {
  try {
    return await charge()
  } catch (error) {
    if (!(error instanceof CodeTaken)) throw error
    return charge()
  }
}

/** Problems that one message names; a caller with more of them has the same mistake everywhere. */
const maxProblems = 100

/** Throws one error with the problems of all links. */
function readBatch(links: Links, sent: readonly unknown[], pools: Pools): CheckedLink[] {
  if (sent.length > linkLimits.batchLinks) {
    throw parameterError(
      [],
      [
        {
          name: 'links',
          text: {
            zh: `最多 ${linkLimits.batchLinks} 条`,
            en: `has at most ${linkLimits.batchLinks} links`,
          },
        },
      ],
    )
  }
  const problems: InvalidParameter[] = []
  const missing: string[] = []
  const list = sent.flatMap((item, index) => {
    const prefix = `links[${index}]`
    if (!isRecord(item)) {
      problems.push({ name: prefix, text: { zh: '必须是对象', en: 'must be an object' } })
      return []
    }
    const read = readParameters({ headers: {}, json: item }, generateOperation.parameters)
    const checked = links.check(read.values, pools)
    for (const { name, text } of [...read.invalid, ...checked.problems])
      problems.push({ name: `${prefix}.${name}`, text })
    for (const name of read.missing) missing.push(`${prefix}.${name}`)
    return [checked]
  })
  if (missing.length > 0)
    throw missingError('generate_batch', missing.slice(0, maxProblems), problems.slice(0, maxProblems))
  if (problems.length > 0) throw parameterError([], problems.slice(0, maxProblems))
  return list
}

// A constant: creating an error captures the stack, and every successful call passes it.
const noGenerations = new AppError(
  1004,
  { zh: '生成次数不足', en: 'Generation count insufficient' },
  { status: 400 },
)

/** Never sent: the transaction of the charge also creates the links. */
export const answerIfInterrupted: ApiResponse = {
  status: 500,
  body: { success: false, message: '系统内部错误' },
}
