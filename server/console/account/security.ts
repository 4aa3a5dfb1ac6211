// The security page of an account: confirmation, second factor, mail address, list of sign-ins.
import { securityRoutes } from '../../../contract/console/security.ts'
import type { Language } from '../../../contract/text.ts'
import type { AccountMail } from '../../accounts/mail.ts'
import type { SecondFactors } from '../../accounts/second-factor.ts'
import { confirmSession } from '../../accounts/session-store.ts'
import { listSignIns, type SignInRow } from '../../accounts/sign-in-store.ts'
import { lockByPassword } from '../../accounts/store.ts'
import { totpUri } from '../../accounts/totp.ts'
import { placeName } from '../../places/names.ts'
import { isMailAddress } from '../../events/alerts.ts'
import type { Services } from '../../services.ts'
import { confirmWith, requireConfirmation } from '../confirmation.ts'
import { readSlice } from '../fields.ts'
import { guessLimits } from '../guess-limits.ts'
import type { PasswordChecks } from '../password-check.ts'
import { ConsoleProblem, conflict, invalidFields } from '../problem.ts'
import { type SignedInRequest, unauthenticated } from '../access.ts'
import type { Api } from '../routes.ts'
import type { SecondStep } from '../second-step.ts'

/** Mails with codes in 15 minutes, of one account and to one address. */
const maxMailsByAccount = 5
const maxMailsToAddress = 3

export interface SecurityParts {
  readonly passwords: PasswordChecks
  readonly secondFactors: SecondFactors
  readonly secondStep: SecondStep
  readonly mail: AccountMail
}

export function securityPages(
  api: Api,
  { db, config, limits }: Services,
  { passwords, secondFactors, secondStep, mail }: SecurityParts,
): void {
  const mailLimits = guessLimits(limits.attempts, 'mail')
  const canMail = Boolean(config.MAIL_URL)
  const isRequired = ({ user }: SignedInRequest) =>
    config.OPERATOR_2FA === 'required' && user.role !== 'account'

  api.enrolling(securityRoutes.state, async (request) => {
    const { enabledAt, codesLeft } = await secondFactors.state(request.account.id)
    return {
      second_factor: {
        enabled_at: enabledAt,
        recovery_codes_left: codesLeft,
        required: isRequired(request),
      },
      mail: { available: canMail, address: (await mail.find(request.account.id)) ?? null },
    }
  })

  api.enrolling(securityRoutes.confirm, async (request, input) => {
    const { user, signedIn, address } = request
    const needed = confirmWith(signedIn)
    if (needed === 'oidc') {
      throw conflict('请通过统一登录确认身份', 'Confirm through the OpenID provider')
    }
    const given = input[needed]
    if (given === undefined) {
      throw invalidFields({ [needed]: { zh: '请填写', en: 'Required' } })
    }
    if (needed === 'code') await secondStep.check(request.raw, user, given)
    const actor =
      needed === 'password' ? await passwords.confirm(user, given, address, 'password') : undefined
    const isConfirmed = await db.write(async (tx) => {
      if (actor?.passwordHash !== undefined && !(await lockByPassword(tx, user.id, actor.passwordHash)))
        return false
      return confirmSession(tx, signedIn.session.id)
    })
    if (!isConfirmed) throw unauthenticated()
    return {}
  })

  api.enrolling(securityRoutes.enrol, async (request) => {
    requireConfirmation(request)
    const secret = await secondFactors.enrol(request.signedIn.session)
    if (secret === undefined) throw conflict('两步验证已启用', 'Two-factor authentication is enabled already')
    return { secret, uri: totpUri('Tollgate', request.user.username, secret) }
  })

  api.enrolling(securityRoutes.enable, async (request, { code }) => {
    requireConfirmation(request)
    const codes = await secondFactors.enable(request.signedIn.session, code)
    if (!codes) {
      throw invalidFields({
        code: { zh: '验证码错误，请检查手机时间', en: 'Wrong code; check the clock of your device' },
      })
    }
    return { recovery_codes: codes }
  })

  api.account(securityRoutes.renewCodes, async (request, { code }) => {
    requireConfirmation(request)
    await secondStep.check(request.raw, request.user, code)
    return { recovery_codes: await secondFactors.renewCodes(request.signedIn.session) }
  })

  api.account(securityRoutes.disable, async (request, { code }) => {
    requireConfirmation(request)
    if (isRequired(request)) {
      throw new ConsoleProblem('forbidden', {
        zh: '平台要求管理员启用两步验证',
        en: 'The platform requires two-factor authentication of operators',
      })
    }
    await secondStep.check(request.raw, request.user, code)
    await secondFactors.disable(request.signedIn.session)
    return {}
  })

  api.account(securityRoutes.signIns, (request, input) =>
    readSlice(
      input,
      (limit) => listSignIns(db, request.account.id, input.before, limit),
      (row) => describeSignIn(row, request.language),
    ),
  )

  api.account(securityRoutes.setMail, async (request, input) => {
    requireConfirmation(request)
    const address = input.address.trim()
    if (!canMail)
      throw new ConsoleProblem('forbidden', { zh: '平台未配置邮件', en: 'The platform does not send email' })
    if (!isMailAddress(address)) {
      throw invalidFields({ address: { zh: '不是有效的邮箱地址', en: 'Not an email address' } })
    }
    await mailLimits.begin([
      { key: `account ${request.user.id}`, max: maxMailsByAccount },
      { key: `to ${address.toLowerCase()}`, max: maxMailsToAddress },
    ])
    return { sent: await mail.begin(request.signedIn.session, address, request.language) }
  })

  api.account(securityRoutes.verifyMail, async (request, { code }) => {
    if (await mail.verify(request.signedIn.session, code)) return {}
    throw invalidFields({ code: { zh: '不正确或已失效', en: 'Wrong, or no longer valid' } })
  })

  api.account(securityRoutes.removeMail, async (request) => {
    requireConfirmation(request)
    await mail.remove(request.signedIn.session)
    return {}
  })
}

function describeSignIn(row: SignInRow, language: Language) {
  const { id, at, address, network, device, method, second_factor } = row
  const place = placeName(row.place, language)
  return { id, at, address, place, network, device, method, second_factor, is_new: row.is_new === 1 }
}
