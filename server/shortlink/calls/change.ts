// The operations that change a link: `update`, `execute_update`, `pause`, `resume`, `delete`.
import { shortlink } from '../../../contract/shortlink.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../../accounts/authenticate.ts'
import { requireStillAllowed } from '../../accounts/still-allowed-store.ts'
import { pricesOf } from '../../accounts/prices.ts'
import { lockAccount } from '../../accounts/store.ts'
import type { Tx } from '../../db/database.ts'
import { type Call, readCallParameters } from '../../http/call.ts'
import { AppError } from '../../http/errors.ts'
import { type InvalidParameter, parameterError } from '../../http/parameters.ts'
import { type ApiResponse, shortlinkSuccess } from '../../http/responses.ts'
import type { Services } from '../../services.ts'
import type { BannedHosts } from '../bans/banned-hosts.ts'
import { remarkLink } from '../bans/bans.ts'
import { chosenCodeProblem } from '../codes/chosen.ts'
import { findTakenCodes } from '../codes/chosen-store.ts'
import type { Codes } from '../codes/store.ts'
import { type CheckedLink, linkNotFound, type Links } from '../links.ts'
import { codeTaken, externalIdUsed } from '../options/conflicts.ts'
import { hashLinkPassword } from '../options/password.ts'
import { permanentProblem } from '../options/read.ts'
import { stateOf } from '../options/record.ts'
import { deleteLink, setPaused, updateLinkOptions } from '../options/store.ts'
import type { Lookup } from '../redirect/lookup-store.ts'
import { findOwnLink, updateLink } from '../store.ts'
import { answerIfInterrupted } from './create.ts'
import { requireValid, say } from './input.ts'
import type { RequireLink } from './which-link.ts'

export interface ChangeCalls {
  update(call: Call, caller: Caller): Promise<ApiResponse>
  refresh(call: Call, caller: Caller): Promise<ApiResponse>
  pause(call: Call, caller: Caller): Promise<ApiResponse>
  resume(call: Call, caller: Caller): Promise<ApiResponse>
  remove(call: Call, caller: Caller): Promise<ApiResponse>
}

const { update: updateOperation, execute_update: refreshOperation } = shortlink.operations

export function createChangeCalls(
  { db, config, paidCalls }: Pick<Services, 'db' | 'config' | 'paidCalls'>,
  {
    links,
    lookup,
    codes,
    requireLink,
  }: { links: Links; lookup: Lookup; codes: Codes; requireLink: RequireLink },
): ChangeCalls {
  function requireMayChange({ account }: Caller): void {
    requireNotSuspended(account)
    requireNotExpired(account, 400)
  }

  /** A transaction that changes links, if the caller may still do so. */
  function writeAs<T>(
    call: Call,
    caller: Caller,
    job: (tx: Tx) => Promise<T>,
    locksAccount = false,
  ): Promise<T> {
    return db.write(async (tx) => {
      // Before the shared lock: two transactions that hold that one would wait for each other.
      if (locksAccount) await lockAccount(tx, caller.account.id)
      await requireStillAllowed(tx, call, caller, 400)
      return job(tx)
    })
  }

  async function changeLink(
    call: Call,
    caller: Caller,
    id: number,
    { checked, bannedHosts }: { readonly checked: CheckedLink; readonly bannedHosts: BannedHosts },
  ): Promise<void> {
    const { change, options, clears } = checked
    const accountId = caller.account.id
    if (options === undefined && change.redirectType === undefined) {
      const isUpdated = await writeAs(call, caller, async (tx) => {
        const updated = await updateLink(tx, accountId, id, change)
        if (updated) await remarkLink(tx, id, bannedHosts)
        return updated
      })
      if (!isUpdated) throw linkNotFound()
      return
    }
    const passwordHash =
      options?.password === undefined ? undefined : await hashLinkPassword(options.password, accountId)
    const update = { change, options: options ?? {}, passwordHash, clears }
    const result = await writeAs(
      call,
      caller,
      async (tx) => {
        const changed = await updateLinkOptions(tx, accountId, id, update)
        if (changed === 'changed') await remarkLink(tx, id, bannedHosts)
        return changed
      },
      // So that two changes cannot use the same `external_id`. A charge locks the account too.
      typeof options?.externalId === 'string',
    )
    if (result === 'not_found') throw linkNotFound()
    if (result === 'external_id_used') throw parameterError([], [externalIdUsed])
    if (result === 'permanent') throw parameterError([], [{ name: 'redirect_type', text: permanentProblem }])
  }

  async function setState(call: Call, caller: Caller, action: 'pause' | 'resume'): Promise<ApiResponse> {
    const { id } = await requireLink(call, caller, action, requireMayChange)
    const link = await writeAs(call, caller, (tx) => setPaused(tx, caller.account.id, id, action === 'pause'))
    if (!link) throw linkNotFound()
    await lookup.publishChange(id)
    const message =
      action === 'pause'
        ? say(call, '短链接已暂停', 'Short link paused')
        : say(call, '短链接已恢复', 'Short link resumed')
    return shortlinkSuccess({ link_id: id, state: stateOf(link, Date.now()), message })
  }

  return {
    async update(call, caller) {
      const result = readCallParameters(call, updateOperation.parameters)
      const pools = lookup.cachedPools() ?? (await lookup.pools())
      const checked = links.check(result.values, pools)
      const invalid = [...result.invalid, ...checked.problems]
      const { link_id: id } = requireValid({ ...result, invalid }, 'update')
      requireMayChange(caller)
      await changeLink(call, caller, id, { checked, bannedHosts: pools.bannedHosts })
      await lookup.publishChange(id)
      return shortlinkSuccess({ link_id: id, message: say(call, '短链接已更新', 'Short link updated') })
    },

    async refresh(call, caller) {
      const result = readCallParameters(call, refreshOperation.parameters)
      const values = requireValid(
        { ...result, invalid: [...result.invalid, ...codeProblems(result.values.short_code)] },
        'execute_update',
      )
      const purchase = { action: 'shortlink.execute_update', values, answerIfInterrupted }
      const replay = await paidCalls.findReplay(call, caller, purchase)
      if (replay) return replay
      requireMayChange(caller)
      const link = await findOwnLink(db, caller.account.id, values.link_id)
      if (!link) throw linkNotFound()
      const chosen = values.short_code
      if (chosen !== undefined && (await findTakenCodes(db, [chosen], codes)).has(chosen))
        throw parameterError([], [codeTaken])
      const refreshInTransaction = await links.prepareRefresh(link, chosen)
      const paid = await paidCalls.charge<ApiResponse>(call, caller, {
        ...purchase,
        apiType: 'short_link',
        cost: pricesOf(caller.account, config.PRICES).execute_update,
        insufficient: noBalance,
        async inSameTransaction(tx, { remaining }) {
          const { link_id, a_url, b_url, short_code } = await refreshInTransaction(tx)
          const answer = shortlinkSuccess({
            link_id,
            new_a_url: a_url,
            new_b_url: b_url,
            short_code,
            remaining_balance: remaining,
            message: say(call, '访问地址已刷新', 'Access addresses refreshed'),
          })
          return { value: answer, response: answer }
        },
      })
      if (paid.replay) return paid.replay
      await lookup.publishChange(link.id)
      return paid.value
    },

    pause: (call, caller) => setState(call, caller, 'pause'),
    resume: (call, caller) => setState(call, caller, 'resume'),

    async remove(call, caller) {
      const { id } = await requireLink(call, caller, 'delete', requireMayChange)
      const isDeleted = await writeAs(call, caller, (tx) => deleteLink(tx, caller.account.id, id, codes))
      if (!isDeleted) throw linkNotFound()
      await lookup.publishChange(id)
      return shortlinkSuccess({ link_id: id, message: say(call, '短链接已删除', 'Short link deleted') })
    },
  }
}

function codeProblems(code: string | undefined): InvalidParameter[] {
  const problem = code === undefined ? undefined : chosenCodeProblem(code)
  return problem ? [{ name: 'short_code', ...problem }] : []
}

// A constant: creating an error captures the stack, and every successful call passes it.
const noBalance = new AppError(
  1004,
  { zh: '余额不足，无法执行更新', en: 'Balance insufficient to execute the update' },
  { status: 400 },
)
