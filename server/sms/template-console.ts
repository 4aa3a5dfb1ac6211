// SMS templates in the account holder's hands: written, input to review, changed, thrown away.
import { smsRoutes } from '../../contract/console/sms.ts'
import type { Template as Shown } from '../../contract/console/responses/sms.ts'
import type { Services } from '../services.ts'
import {
  createTemplate,
  deleteTemplate,
  editTemplate,
  findTemplate,
  pageTemplates,
  type SmsTemplate,
} from './templates.ts'
import { pageRows, toPage } from '../console/fields.ts'
import type { Api, SignedInRequest } from '../console/routes.ts'
import { requireNotExpired } from '../console/call-from-console.ts'

export function templatePages(api: Api, { db }: Services): void {
  const actorOf = (request: SignedInRequest) => ({ kind: 'account', accountId: request.account.id }) as const

  api.account(smsRoutes.templates, async (request, input) => {
    const page = pageRows(input)
    const { templates, total } = await pageTemplates(db, request.account.id, {
      q: input.q?.trim(),
      status: input.state,
      ...page,
    })
    return toPage(page, templates.map(shownOf), total)
  })

  api.account(smsRoutes.template, async (request) =>
    shownOf(await findTemplate(db, request.account.id, request.id())),
  )

  api.account(smsRoutes.createTemplate, async (request, input) => {
    requireNotExpired(request.account)
    const code = input.code?.trim() || undefined
    return shownOf(await createTemplate(db, actorOf(request), { ...input, code }))
  })

  api.account(smsRoutes.changeTemplate, async (request, input) => {
    requireNotExpired(request.account)
    return shownOf(await editTemplate(db, actorOf(request), request.id(), input))
  })

  api.account(smsRoutes.deleteTemplate, async (request) => {
    requireNotExpired(request.account)
    await deleteTemplate(db, actorOf(request), request.id())
    return {}
  })
}

function shownOf(template: SmsTemplate): Shown {
  return {
    id: template.id,
    code: template.code,
    name: template.name,
    type: template.type,
    content: template.content,
    variables: template.variables,
    state: template.status,
    reason: template.reason === '' ? null : template.reason,
    shared: template.accountId === null,
    created_at: template.createdAt,
    updated_at: template.updatedAt,
  }
}
