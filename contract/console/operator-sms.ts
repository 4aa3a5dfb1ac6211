// Templates that the operator shares with all accounts.
import { Type } from 'typebox'
import { Empty, note, Noted } from './fields.ts'
import type { operatorSmsResponses } from './responses/operator-sms.ts'
import { route, withResponses } from './route.ts'
import { TemplateInput } from './sms.ts'

/** Approved immediately. */
const SharedTemplateInput = Type.Object({ ...TemplateInput.properties, note })

export const operatorSmsRoutes = withResponses<typeof operatorSmsResponses>()({
  sharedTemplates: route('GET', '/operator/sms/templates', Empty),
  addSharedTemplate: route('POST', '/operator/sms/templates', SharedTemplateInput),
  /** Adds the starter templates that do not exist yet, so that a new account can send its first message. */
  addStarterTemplates: route('POST', '/operator/sms/templates/starters', Empty),
  removeSharedTemplate: route('POST', '/operator/sms/templates/:id/remove', Noted),
})
