// Console routes for the templates of an account: list, create, change, delete.
import { smsRoutes } from '../../contract/console/sms.ts'
import type { Template as Shown } from '../../contract/console/responses/sms.ts'
import type { Language } from '../../contract/text.ts'
import type { Services } from '../services.ts'
import {
  createTemplate,
  deleteTemplate,
  editTemplate,
  findTemplate,
  pageTemplates,
  type SmsTemplate,
} from './templates.ts'
import { vendorReviewOf } from './reviews/console.ts'
import { findVendorReviews } from './reviews/store.ts'
import { pageRows, toPage } from '../console/fields.ts'
import type { SignedInRequest } from '../console/access.ts'
import type { Api } from '../console/routes.ts'
import { requireNotExpired } from '../console/call-from-console.ts'

export function templatePages(api: Api, { db }: Services): void {
  const actorOf = (request: SignedInRequest) => ({ kind: 'account', accountId: request.account.id }) as const

  async function shown(templates: readonly SmsTemplate[], language: Language): Promise<Shown[]> {
    const ids = templates.map(({ id }) => id)
    const rows = await findVendorReviews(db, 'template', ids)
    return templates.map((template) => ({
      ...shownOf(template),
      vendors: rows
        .filter(({ subject_id: id }) => id === template.id)
        .map((row) => vendorReviewOf(row, language)),
    }))
  }

  async function shownOne(template: SmsTemplate, language: Language): Promise<Shown> {
    return (await shown([template], language))[0]!
  }

  api.account(smsRoutes.templates, async (request, input) => {
    const page = pageRows(input)
    const { templates, total } = await pageTemplates(db, request.account.id, {
      q: input.q?.trim(),
      status: input.state,
      ...page,
    })
    return toPage(page, await shown(templates, request.language), total)
  })

  api.account(smsRoutes.template, async (request) =>
    shownOne(await findTemplate(db, request.account.id, request.id()), request.language),
  )

  api.account(smsRoutes.createTemplate, async (request, input) => {
    requireNotExpired(request.account)
    const code = input.code?.trim() || undefined
    return shownOne(await createTemplate(db, actorOf(request), { ...input, code }), request.language)
  })

  api.account(smsRoutes.changeTemplate, async (request, input) => {
    requireNotExpired(request.account)
    return shownOne(await editTemplate(db, actorOf(request), request.id(), input), request.language)
  })

  api.account(smsRoutes.deleteTemplate, async (request) => {
    requireNotExpired(request.account)
    await deleteTemplate(db, actorOf(request), request.id())
    return {}
  })
}

function shownOf(template: SmsTemplate): Omit<Shown, 'vendors'> {
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
