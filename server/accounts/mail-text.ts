// The mails about an account: the code that verifies an address, the recovery link, and security notices.
import { mailTokenMs } from '../../contract/console/limits.ts'
import type { Language } from '../../contract/text.ts'
import { formatTime, minuteMs } from '../../contract/time.ts'
import { placeName } from '../places/names.ts'

export interface MailText {
  readonly title: string
  readonly text: string
}

const minutes = mailTokenMs / minuteMs

export function verificationMail(code: string, language: Language): MailText {
  return language === 'zh'
    ? {
        title: '[Tollgate] 邮箱验证码',
        text: `验证码：${code}\n在控制台输入后，此邮箱可用于找回密码和接收安全提醒。${minutes} 分钟内有效。\n如非本人操作，请忽略此邮件。`,
      }
    : {
        title: '[Tollgate] Verify your email address',
        text: `Code: ${code}\nEnter it in the console. The address is then used for password recovery and security notices. Valid for ${minutes} minutes.\nIf you did not request this code, ignore this email.`,
      }
}

export function recoveryMail(
  links: readonly { readonly username: string; readonly url: string }[],
  language: Language,
): MailText {
  const list = links.map(({ username, url }) => `${username}\n${url}`).join('\n\n')
  return language === 'zh'
    ? {
        title: '[Tollgate] 找回密码',
        text: `打开链接设置新密码。链接只能使用一次，${minutes} 分钟内有效：\n\n${list}\n\n如非本人操作，请忽略此邮件，密码不会改变。`,
      }
    : {
        title: '[Tollgate] Reset your password',
        text: `Open the link to set a new password. It works once, within ${minutes} minutes:\n\n${list}\n\nIf you did not request this, ignore this email; your password stays the same.`,
      }
}

/** The following mails are sent without a request, so their language is not known. */
export function addressChangedMail(username: string): MailText {
  return {
    title: '[Tollgate] 邮箱已更改 / Email address changed',
    text: `账户 ${username} 不再使用此邮箱。如非本人操作，请立即联系平台管理员。\n\nThe account ${username} no longer uses this email address. If you did not change it, contact the operator immediately.`,
  }
}

export interface SignInOrigin {
  readonly address: string
  /** `CN-GD`, `US`; empty when unknown. */
  readonly place: string
  readonly device: string
}

export function newPlaceMail(username: string, from: SignInOrigin, at: number): MailText {
  const facts = factsOf(from, at)
  return {
    title: '[Tollgate] 新设备或新地点登录 / New sign-in',
    text: `账户 ${username} 从新的设备或地点登录：\n${facts}\n如非本人操作，请立即修改密码，并在控制台“安全”页结束其他会话。\n\nThe account ${username} was signed in to from a new device or place (see above). If this was not you, change the password immediately and end the other sessions on the Security page of the console.`,
  }
}

export function recoveryCodeMail(
  username: string,
  from: SignInOrigin,
  at: number,
  codesLeft: number,
): MailText {
  const facts = factsOf(from, at)
  return {
    title: '[Tollgate] 恢复码已使用 / Recovery code used',
    text: `账户 ${username} 的一个恢复码已被使用：\n${facts}\n剩余 ${codesLeft} 个恢复码，可在控制台“安全”页重新生成。如非本人操作，请立即修改密码，重新生成恢复码，并结束其他会话。\n\nA recovery code of the account ${username} was used (see above). Recovery codes left: ${codesLeft}; new ones can be created on the Security page of the console. If this was not you, change the password immediately, create new recovery codes, and end the other sessions.`,
  }
}

/** When, from where and with which device. */
function factsOf({ address, place, device }: SignInOrigin, at: number): string {
  const names = [placeName(place, 'zh'), placeName(place, 'en')].filter((name) => name !== '')
  return `${formatTime(at)}  ${address}${names.length === 0 ? '' : `  ${names.join(' / ')}`}  ${device}`
}
