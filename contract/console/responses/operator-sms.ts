// Responses about the templates that the operator shares with all accounts.
import { Type } from 'typebox'
import { Empty } from '../fields.ts'
import type { ResponseOf } from '../route.ts'
import { templateState, templateType } from '../sms-values.ts'
import { listOf, moment } from './fields.ts'

export const SharedTemplate = Type.Object({
  id: Type.Integer(),
  code: Type.String(),
  name: Type.String(),
  type: templateType,
  content: Type.String(),
  state: templateState,
  updated_at: moment,
})
export type SharedTemplate = ResponseOf<typeof SharedTemplate>

export const operatorSmsResponses = {
  sharedTemplates: listOf(SharedTemplate),
  addSharedTemplate: SharedTemplate,
  addStarterTemplates: listOf(SharedTemplate),
  removeSharedTemplate: Empty,
}
