// The commands `oidc`: links between accounts and users of the OpenID provider.
import { formatTime } from '../contract/time.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { issuerOf, linkOidc, unlinkOidc } from '../server/accounts/oidc-links.ts'
import { listOidcLinks } from '../server/accounts/oidc-store.ts'
import { cliActor, type Command, type Invocation, table, UsageError } from './command.ts'

function requireIssuer({ config }: Invocation): string {
  if (config.OIDC_ISSUER !== undefined) return issuerOf(config.OIDC_ISSUER)
  throw new UsageError('未设置 OIDC_ISSUER / OIDC_ISSUER is not set')
}

export const oidcCommands: readonly Command[] = [
  {
    name: 'oidc link',
    usage: 'NAME SUBJECT',
    text: {
      zh: '将账户关联到统一登录用户（sub），该用户即可登录此账户',
      en: 'link an account to a user of the OpenID provider (sub), who can then sign in',
    },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run(invocation) {
      const issuer = requireIssuer(invocation)
      const { installation, words } = invocation
      const account = await requireAccount(installation.db, words[0]!)
      const subject = words[1]!
      if (subject.length > 255) throw new UsageError('SUBJECT 过长 / is too long')
      await linkOidc(installation.db, cliActor, account.id, { issuer, subject, name: subject })
      return {
        json: { username: account.username, issuer, subject },
        text: `${account.username}: 已关联 / linked to ${subject}`,
      }
    },
  },
  {
    name: 'oidc list',
    usage: 'NAME',
    text: {
      zh: '列出账户关联的统一登录用户',
      en: 'list the users of the OpenID provider linked to an account',
    },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const account = await requireAccount(db, words[0]!)
      const links = (await listOidcLinks(db, account.id)).map((link) => ({
        issuer: link.issuer,
        subject: link.subject,
        name: link.name,
        linked_at: formatTime(link.linked_at),
      }))
      return {
        json: { links },
        text: table(
          ['issuer', 'subject', 'name', 'linked_at'],
          links.map((one) => [one.issuer, one.subject, one.name, one.linked_at]),
        ),
      }
    },
  },
  {
    name: 'oidc unlink',
    usage: 'NAME SUBJECT',
    text: {
      zh: '解除关联，并结束由统一登录开始的会话',
      en: 'remove a link and end the sessions that began with it',
    },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run(invocation) {
      const { db } = invocation.installation
      const account = await requireAccount(db, invocation.words[0]!)
      const subject = invocation.words[1]!
      const link = (await listOidcLinks(db, account.id)).find((one) => one.subject === subject)
      if (!link || !(await unlinkOidc(db, cliActor, account.id, { ...link, keepLast: false })))
        throw new UsageError('关联不存在 / no such OIDC link')
      return {
        json: { username: account.username, subject, removed: true },
        text: `${account.username}: 已解除 / removed`,
      }
    },
  },
]
