// Settings of the web console.
import { choice, optionalText, optionalUrl, setting, type SettingValues } from '../setting-parsers.ts'

export const consoleSettings = {
  SIGN_UP: setting(choice('off', 'on'), 'off', {
    zh: '是否开放注册账户',
    en: 'Allow sign-up in the console',
  }),
  PASSWORD_LOGIN: setting(choice('on', 'off'), 'on', {
    zh: 'off：控制台只能用 OIDC 登录；需要 OIDC_ISSUER',
    en: 'off: users sign in to the console through OIDC only; needs OIDC_ISSUER',
  }),
  OPERATOR_2FA: setting(choice('optional', 'required'), 'optional', {
    zh: 'required：管理员必须先启用两步验证，才能使用控制台',
    en: 'required: operators have to enable two-factor authentication before they can use the console',
  }),
  OIDC_ISSUER: setting(optionalUrl(['https:', 'http:']), undefined, {
    zh: '统一登录（OpenID Connect）的签发者地址；回调地址为 PUBLIC_URL 加 /console/api/oidc/callback',
    en: 'Issuer URL of the OpenID provider; the redirect URI is PUBLIC_URL plus /console/api/oidc/callback',
  }),
  OIDC_CLIENT_ID: setting(optionalText, undefined, {
    zh: '在统一登录服务登记的客户端 ID',
    en: 'Client ID at the OpenID provider',
  }),
  OIDC_CLIENT_SECRET: setting(
    optionalText,
    undefined,
    { zh: '在统一登录服务登记的客户端密钥', en: 'Client secret at the OpenID provider' },
    'secret',
  ),
} as const

export function consoleProblems(config: SettingValues<typeof consoleSettings>): string[] {
  const problems: string[] = []
  const { OIDC_ISSUER: issuer, PASSWORD_LOGIN } = config
  const names = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const
  if (issuer || config.OIDC_CLIENT_ID)
    for (const name of names)
      if (!config[name])
        problems.push(`${name} 缺失，OIDC 的三项必须同时设置 / is missing: OIDC needs all three`)
  const url = issuer === undefined ? null : URL.parse(issuer)
  if (url?.protocol === 'http:' && !['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname))
    problems.push('OIDC_ISSUER 必须是 https 地址 / must be an https address')
  if (PASSWORD_LOGIN === 'off' && !issuer)
    problems.push(
      'PASSWORD_LOGIN=off 需要 OIDC_ISSUER，否则无人能登录 / needs OIDC_ISSUER: no user could sign in',
    )
  return problems
}
