// The operations that create links: `generate` and `generate_batch`.
import { linkLimits, shortlink } from '../../../contract/shortlink.ts'
import { isRecord } from '../../../contract/values.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../../accounts/authenticate.ts'
import { createBatchTurns } from '../../accounts/batch-turns.ts'
import { pricesOf } from '../../accounts/prices.ts'
import { type Call, readCallParameters } from '../../http/call.ts'
import { AppError } from '../../http/errors.ts'
import { type InvalidParameter, parameterError, readParameters } from '../../http/parameters.ts'
import { type ApiResponse, shortlinkSuccess } from '../../http/responses.ts'
import type { Services } from '../../services.ts'
import type { CheckedLink, Links } from '../links.ts'
import { requireNoConflicts } from '../options/conflicts.ts'
import type { Lookup, Pools } from '../redirect/lookup-store.ts'
import { CodeTaken, maxCodeAttempts } from '../store.ts'
import { requireValid, missingError } from './input.ts'

export interface CreateCalls {
  generate(call: Call, caller: Caller): Promise<ApiResponse>
  generateBatch(call: Call, caller: Caller): Promise<ApiResponse>
}

const { generate: generateOperation, generate_batch: batchOperation } = shortlink.operations
const defaults = { redirect_type: generateOperation.parameters.redirect_type.default }

/** More at a time than other batches, because each takes 2 to 3 ms: they share commits, and the database works while others are read. */
const batchTurns = { maxRunning: 16, maxRunningOfShare: 8, maxWaiting: 1_000 }

export function createCreateCalls(
  { config, paidCalls }: Pick<Services, 'config' | 'paidCalls'>,
  links: Links,
  lookup: Lookup,
): CreateCalls {
  const runBatch = createBatchTurns(batchTurns)
  const readPools = async () => lookup.cachedPools() ?? (await lookup.pools())

  return {
    async generate(call, caller) {
      const result = readCallParameters(call, generateOperation.parameters)
      const pools = lookup.cachedPools() ?? (await lookup.pools())
      const checked = links.check(result.values, pools)
      const invalid =
        checked.problems.length === 0 ? result.invalid : [...result.invalid, ...checked.problems]
      const { values } = result
      const purchase = { action: 'shortlink.generate', values, defaults, answerIfInterrupted }
      if (checked.problems.length > 0) {
        const earlier = await findEarlier(call, caller, purchase, result)
        if (earlier) return earlier
      }
      requireValid({ ...result, invalid }, 'generate')
      return paidCalls.once(call, caller, purchase, async () => {
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
      })
    },

    generateBatch: (call, caller) => runBatch(caller.account.id, () => generateBatch(call, caller)),
  }

  async function generateBatch(call: Call, caller: Caller): Promise<ApiResponse> {
    const result = readCallParameters(call, batchOperation.parameters)
    const values = requireValid(result, 'generate_batch')
    const purchase = { action: 'shortlink.generate_batch', values, defaults, answerIfInterrupted }
    const read = readBatch(links, values.links, await readPools())
    if (read.missing.length > 0 || read.problems.length > 0) {
      const earlier = await findEarlier(call, caller, purchase, read)
      if (earlier) return earlier
      throw await batchError(read, (all) => links.findConflicts(caller.account.id, all))
    }
    const { list } = read
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

  /** The answer to an earlier call whose values were right then: a time can pass, and a target can be banned. */
  async function findEarlier(
    call: Call,
    caller: Caller,
    purchase: Parameters<typeof paidCalls.findReplay>[2],
    { missing }: { readonly missing: readonly string[] },
  ): Promise<ApiResponse | undefined> {
    // What is wrong now comes before another problem of the key.
    return missing.length > 0
      ? undefined
      : paidCalls.findReplay(call, caller, purchase).catch(() => undefined)
  }
}

/** When a new code is taken, nothing of the charge was written, and the next codes are elsewhere. */
async function withFreeCodes<T>(charge: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await charge()
    } catch (error) {
      if (!(error instanceof CodeTaken) || attempt === maxCodeAttempts) throw error
    }
  }
}

/** Problems that one message names; a caller with more of them has the same mistake everywhere. */
const maxProblems = 100

interface ReadBatch {
  /** Every link when nothing is wrong, else those that are objects, without malformed codes. */
  readonly list: readonly CheckedLink[]
  /** Where each of them is in the call. */
  readonly indexes: readonly number[]
  readonly problems: readonly InvalidParameter[]
  readonly missing: readonly string[]
}

function readBatch(links: Links, sent: readonly unknown[], pools: Pools): ReadBatch {
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
  const list: CheckedLink[] = []
  const indexes: number[] = []
  for (const [index, item] of sent.entries()) {
    const prefix = `links[${index}]`
    if (!isRecord(item)) {
      problems.push({ name: prefix, text: { zh: '必须是对象', en: 'must be an object' } })
      continue
    }
    const read = readParameters({ headers: {}, json: item }, generateOperation.parameters)
    const link = links.check(read.values, pools)
    const wrong = [...read.invalid, ...link.problems]
    for (const { name, text } of wrong) problems.push({ name: `${prefix}.${name}`, text })
    for (const name of read.missing) missing.push(`${prefix}.${name}`)
    // A malformed code cannot be looked up.
    const isCodeWrong = wrong.some(({ name }) => name === 'short_code')
    list.push(isCodeWrong ? { ...link, options: { ...link.options, shortCode: undefined } } : link)
    indexes.push(index)
  }
  return { list, indexes, problems, missing }
}

/** One error with the problems of all links, also those that only the database knows. */
async function batchError(
  { list, indexes, problems, missing }: ReadBatch,
  findConflicts: (list: readonly CheckedLink[]) => Promise<readonly (readonly InvalidParameter[])[]>,
): Promise<AppError> {
  const conflicts = (await findConflicts(list)).flatMap((found, position) =>
    found.map(({ name, text }) => ({ name: `links[${indexes[position]!}].${name}`, text })),
  )
  const all = [...problems, ...conflicts].slice(0, maxProblems)
  return missing.length === 0
    ? parameterError([], all)
    : missingError('generate_batch', missing.slice(0, maxProblems), all)
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
