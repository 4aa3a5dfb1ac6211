// SMS templates in the account holder's hands: written, sent to review, changed, thrown away.
import { Type } from 'typebox'
import { smsRoutes, type Template as Shown } from '../../contract/console/sms.ts'
import { longestText } from '../../contract/sms-text.ts'
import type { Services } from '../services.ts'
import {
  createTemplate,
  deleteTemplate,
  editTemplate,
  findTemplate,
  pageTemplates,
  type SmsTemplate,
} from './templates.ts'
import type { Api, SignedInAsk } from '../console/routes.ts'
import { requireNotExpired } from '../console/call-from-console.ts'
import { nothing, page } from '../console/fields.ts'

export const templateState = Type.Enum(['审核中', '审核通过', '审核不通过'])

// Longer than what is allowed, so that the product's own words say what is.
const text = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  content: Type.String({ minLength: 1, maxLength: 4 * longestText }),
}

export function templatePages(api: Api, { db }: Services): void {
  const actorOf = (ask: SignedInAsk) => ({ kind: 'account', accountId: ask.account.id }) as const

  const query = Type.Object({
    ...page,
    q: Type.Optional(Type.String({ maxLength: 200 })),
    state: Type.Optional(templateState),
  })
  api.account(smsRoutes.templates, query, async (ask, sent) => {
    const size = sent.size ?? 20
    const number = sent.page ?? 1
    const { templates, total } = await pageTemplates(db, ask.account.id, {
      q: sent.q?.trim(),
      status: sent.state,
      limit: size,
      offset: (number - 1) * size,
    })
    return { items: templates.map(shownOf), total, page: number, size }
  })

  api.account(smsRoutes.template, nothing, async (ask) =>
    shownOf(await findTemplate(db, ask.account.id, ask.id())),
  )

  const wish = Type.Object({ ...text, code: Type.Optional(Type.String({ maxLength: 200 })) })
  api.account(smsRoutes.createTemplate, wish, async (ask, sent) => {
    requireNotExpired(ask.account)
    const code = sent.code?.trim() || undefined
    return shownOf(await createTemplate(db, actorOf(ask), { ...sent, code }))
  })

  api.account(smsRoutes.changeTemplate, Type.Object(text), async (ask, sent) => {
    requireNotExpired(ask.account)
    return shownOf(await editTemplate(db, actorOf(ask), ask.id(), sent))
  })

  api.account(smsRoutes.deleteTemplate, nothing, async (ask) => {
    requireNotExpired(ask.account)
    await deleteTemplate(db, actorOf(ask), ask.id())
    return {}
  })
}

function shownOf(template: SmsTemplate): Shown {
  return {
    id: template.id,
    code: template.code,
    name: template.name,
    content: template.content,
    variables: template.variables,
    state: template.status,
    reason: template.reason === '' ? null : template.reason,
    shared: template.accountId === null,
    created_at: template.createdAt,
    updated_at: template.updatedAt,
  }
}
