// Console routes for the templates that the operator shares with all accounts.
import { operatorSmsRoutes } from '../../contract/console/operator-sms.ts'
import type { SharedTemplate } from '../../contract/console/responses/operator-sms.ts'
import { systemActor } from '../audit/audit.ts'
import { operatorOf } from '../console/operator-actor.ts'
import { notFound } from '../console/problem.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import { sampleTemplates } from './sample-templates.ts'
import { createTemplate, deleteTemplate, listTemplates, type SmsTemplate } from './templates.ts'

export function sharedTemplatePages(api: Api, { db }: Services): void {
  const list = () => listTemplates(db, systemActor, { accountId: null })

  api.operator(operatorSmsRoutes.sharedTemplates, async () => ({ items: (await list()).map(sharedOf) }))

  api.operator(operatorSmsRoutes.addSharedTemplate, async (request, { note, ...input }) => {
    const code = input.code?.trim() || undefined
    const actor = operatorOf(request, { note })
    return sharedOf(await createTemplate(db, actor, { ...input, code, accountId: null, status: '审核通过' }))
  })

  api.operator(operatorSmsRoutes.addStarterTemplates, async (request) => {
    const known = new Set((await list()).map(({ code }) => code))
    const actor = operatorOf(request, { note: '入门模板 / starter templates' })
    for (const template of sampleTemplates) {
      if (template.status !== '审核通过' || known.has(template.code!)) continue
      await createTemplate(db, actor, { ...template, accountId: null })
    }
    return { items: (await list()).map(sharedOf) }
  })

  api.operator(operatorSmsRoutes.removeSharedTemplate, async (request, input) => {
    const id = request.id()
    if (!(await list()).some((template) => template.id === id)) throw notFound()
    await deleteTemplate(db, operatorOf(request, input), id)
    return {}
  })
}

function sharedOf({ id, code, name, type, content, status, updatedAt }: SmsTemplate): SharedTemplate {
  return { id, code, name, type, content, state: status, updated_at: updatedAt }
}
