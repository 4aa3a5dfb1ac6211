// Composes a message from a template, a signature and values, and prices it. Nothing is charged or sent.
import {
  compareVariables,
  countParts,
  fillTemplate,
  maxSmsLength,
  wholeText,
} from '../../contract/sms-text.ts'
import { printable } from '../../contract/values.ts'
import type { Account } from '../accounts/store.ts'
import { invalidField } from '../http/errors.ts'
import type { Services } from '../services.ts'
import { requireUsableSignature } from './usable-signature.ts'
import { createTemplateLookup, noSuchTemplate, type UsableTemplate } from './templates.ts'
import { pricesOf } from '../accounts/prices.ts'

export interface MessageInput {
  readonly templateCode: string
  readonly signName: string | undefined
  /** The values, or how to derive them from the template. */
  readonly templateParams:
    | ReadonlyMap<string, string>
    | ((template: UsableTemplate) => ReadonlyMap<string, string>)
}

export interface ComposedMessage {
  readonly template: UsableTemplate
  readonly signName: string
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  readonly text: string
  readonly parts: number
  readonly cost: number
}

export type ComposeMessage = (
  account: Account,
  input: MessageInput,
  knownTemplate?: UsableTemplate,
) => Promise<ComposedMessage>

/** What the messages of a batch have in common. */
export interface MessageFrame {
  readonly template: UsableTemplate
  readonly signName: string
}

/** Throws when the account may not use the template or the signature. */
export type FindFrame = (
  account: Account,
  input: Pick<MessageInput, 'templateCode' | 'signName'>,
  knownTemplate?: UsableTemplate,
) => Promise<MessageFrame>

export function createFrameLookup({ db, config }: Pick<Services, 'db' | 'config'>): FindFrame {
  const findTemplate = createTemplateLookup(db)
  return async (account, input, knownTemplate) => {
    const template = knownTemplate ?? (await findTemplate(account.id, input.templateCode))
    if (template?.status !== '审核通过') throw noSuchTemplate()
    return { template, signName: await requireUsableSignature(db, config, account, input.signName) }
  }
}

export function createComposer(services: Pick<Services, 'db' | 'config'>): ComposeMessage {
  const findFrame = createFrameLookup(services)
  return async (account, input, knownTemplate) => {
    const frame = await findFrame(account, input, knownTemplate)
    const { templateParams } = input
    const values = typeof templateParams === 'function' ? templateParams(frame.template) : templateParams
    return fillFrame(frame, values, pricesOf(account, services.config.PRICES).sms_part)
  }
}

/** Throws when the values do not fit the template. */
export function fillFrame(
  { template, signName }: MessageFrame,
  values: ReadonlyMap<string, string>,
  partPrice: number,
): ComposedMessage {
  const text = requireText(template, signName, values)
  const variables = template.variables.map((name) => ({ name, value: values.get(name) ?? '' }))
  const parts = countParts(text.length)
  return { template, signName, variables, text, parts, cost: parts * partPrice }
}

/** Throws one error that names every missing variable, every unknown variable and an excessive length. */
function requireText(
  template: UsableTemplate,
  signName: string,
  values: ReadonlyMap<string, string>,
): string {
  const { missing, surplus } = compareVariables(template.variables, values)
  const zh: string[] = []
  const en: string[] = []
  if (missing.length > 0) {
    zh.push(`template_params 缺少变量 ${missing.join('、')}`)
    en.push(`template_params lacks ${missing.join(', ')}`)
  }
  if (surplus.length > 0) {
    const names = surplus.slice(0, 20).map(printable)
    zh.push(`template_params 有多余变量 ${names.join('、')}`)
    en.push(`template_params has no variable ${names.join(', ')} in the template`)
  }
  const text = wholeText(signName, fillTemplate(template.content, values))
  if (text.length > maxSmsLength) {
    zh.push(`短信内容 ${text.length} 个字符，超过 ${maxSmsLength}`)
    en.push(`the text has ${text.length} characters, more than ${maxSmsLength}`)
  }
  if (zh.length === 0) return text
  throw invalidField('template_params', { zh: zh.join('；'), en: en.join('; ') })
}
