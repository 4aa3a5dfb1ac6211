// An account whose mail address is verified.
import { securityRoutes } from '../../contract/console/security.ts'
import { type Browser, signedIn } from './console.ts'
import type { Mailbox } from './mailbox.ts'
import type { TestAccount, TestService } from './service.ts'

export async function accountWithMail(
  service: TestService,
  mailbox: Mailbox,
): Promise<{ user: TestAccount; own: Browser; address: string }> {
  const user = await service.account()
  const own = await signedIn(service, user)
  await own.confirm()
  const address = `${user.username}@Example.com`
  await own.call(securityRoutes.setMail, { sent: { address } })
  const [, code] = /(\d{6})/.exec((await mailbox.next(address)).text)!
  await own.call(securityRoutes.verifyMail, { sent: { code } })
  return { user, own, address }
}
