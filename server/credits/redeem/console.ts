// Console routes for redeem codes: preview, then redeem once.
import { creditRoutes } from '../../../contract/console/credits.ts'
import { formatDay } from '../../../contract/time.ts'
import { networkOf } from '../../http/address.ts'
import { addCredits } from '../store.ts'
import type { Services } from '../../services.ts'
import type { SignedInRequest } from '../../console/access.ts'
import type { Api } from '../../console/routes.ts'
import { guessLimits } from '../../console/guess-limits.ts'
import { invalidFields } from '../../console/problem.ts'
import { hashRedeemCode, readRedeemCode } from './code.ts'
import { type CodeOffer, findOffer, redeemCode } from './store.ts'

/** Wrong codes an account, and an address, may try in a quarter of an hour. */
const maxByAccount = 10
const maxByAddress = 40

export function redeemPages(api: Api, { db, limits: shared }: Services, secret: string): void {
  const limits = guessLimits(shared.attempts, 'redeem')

  /** Returns what a code grants, or throws what is wrong with it. A code that does not exist counts as a guess. */
  async function requireOffer(request: SignedInRequest, typed: string): Promise<CodeOffer> {
    const keys = [
      { key: `account ${request.user.id}`, max: maxByAccount },
      { key: `address ${networkOf(request.address)}`, max: maxByAddress },
    ]
    const guess = await limits.begin(keys)
    const code = readRedeemCode(typed)
    const offer = code === undefined ? undefined : await findOffer(db, hashRedeemCode(secret, code))
    if (!offer) {
      await guess.wrong()
      throw wrong('兑换码不存在，请检查是否有误', 'There is no such code, please check it')
    }
    await guess.right()
    if (offer.state === 'redeemed') throw used(offer.account_id === request.user.id)
    if (offer.state === 'revoked') throw wrong('兑换码已作废', 'The code was revoked')
    if (offer.expires_on !== null && offer.expires_on < formatDay(Date.now())) {
      throw wrong('兑换码已过期', 'The code has expired')
    }
    return offer
  }

  api.account(creditRoutes.previewCode, async (request, input) => {
    const { api_type, amount, expires_on } = await requireOffer(request, input.code)
    return { api_type, amount, expires_on }
  })

  api.account(creditRoutes.redeem, async (request, input) => {
    const offer = await requireOffer(request, input.code)
    const balance = await db.write(async (tx) => {
      if (!(await redeemCode(tx, offer.id, request.user.id))) return undefined
      return addCredits(tx, {
        accountId: request.user.id,
        apiType: offer.api_type,
        kind: 'grant',
        amount: offer.amount,
        note: `兑换码 ${offer.hint}`,
        redeemCodeId: offer.id,
      })
    })
    if (balance) return { api_type: offer.api_type, amount: offer.amount, balance }
    // Redeemed or revoked since it was looked up.
    await requireOffer(request, input.code)
    throw used(false)
  })
}

/** The response to the first attempt may have been lost. */
function used(bySameAccount: boolean) {
  return bySameAccount
    ? wrong(
        '兑换码已被使用：您已兑换，额度已到账',
        'You have used the code already, and its credits were granted',
      )
    : wrong('兑换码已被使用', 'The code was used already')
}

function wrong(zh: string, en: string) {
  return invalidFields({ code: { zh, en } })
}
