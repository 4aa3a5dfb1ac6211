// Checks that the mail server and the OpenID provider of the settings can be reached.
import type { Config } from '../../server/config.ts'
import { describeReason, type Finding, ok, reportProblem } from './finding.ts'

const timeoutMs = 10_000

export async function checkSignIn(config: Config): Promise<Finding[]> {
  return [
    ...(config.MAIL_URL ? [await checkMail(config.MAIL_URL)] : []),
    ...(config.OIDC_ISSUER ? [await checkProvider(config.OIDC_ISSUER)] : []),
  ]
}

/** Connects and signs in; sends nothing. */
async function checkMail(mailUrl: string): Promise<Finding> {
  const url = new URL(mailUrl)
  for (const name of ['connectionTimeout', 'greetingTimeout', 'socketTimeout'])
    url.searchParams.set(name, String(timeoutMs))
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(url.href)
  try {
    await transport.verify()
    return ok('mail', `邮件服务器 ${url.host} 可用`, `the mail server ${url.host} works`)
  } catch (error) {
    return reportProblem(
      'mail',
      'fail',
      [`邮件服务器 ${url.host} 不可用：${describeReason(error)}`, 'the mail server does not work'],
      ['检查 MAIL_URL 的地址、用户名与密码', 'check address, user name and password in MAIL_URL'],
    )
  } finally {
    transport.close()
  }
}

async function checkProvider(issuer: string): Promise<Finding> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const fix = ['检查 OIDC_ISSUER 与网络', 'check OIDC_ISSUER and the network'] as const
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
    const { issuer: named } = (await response.json()) as { issuer?: unknown }
    if (typeof named === 'string' && new URL(named).href === new URL(issuer).href)
      return ok('oidc', `统一登录服务 ${issuer} 可用`, `the OpenID provider ${issuer} works`)
    return reportProblem(
      'oidc',
      'fail',
      ['统一登录服务的签发者与 OIDC_ISSUER 不同', 'the provider names another issuer than OIDC_ISSUER'],
      fix,
    )
  } catch (error) {
    return reportProblem(
      'oidc',
      'fail',
      [`统一登录服务无法访问：${describeReason(error)}`, 'the OpenID provider cannot be reached'],
      fix,
    )
  }
}
