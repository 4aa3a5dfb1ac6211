// What an SMS text is made of: the number, the variables of a template, the length that counts and the parts it is billed as.
import type { Text } from './text.ts'

/** Consumer number ranges of mainland China. Satellite (174), unassigned and IoT ranges are excluded. */
export const phonePattern = '^1(?:3\\d|4[5-9]|5[0-35-9]|6[2567]|7[0-35-8]|8\\d|9[0-35-9])\\d{8}$'

const phoneNumber = new RegExp(phonePattern)

export function isPhoneNumber(text: string): boolean {
  return phoneNumber.test(text)
}

export const templateStates = ['审核中', '审核通过', '审核不通过'] as const

export type TemplateState = (typeof templateStates)[number]

export function isTemplateState(value: string): value is TemplateState {
  return (templateStates as readonly string[]).includes(value)
}

/** Signature in its brackets and filled-in template together, in UTF-16 units: an emoji takes two, as it does on the wire. */
export const longestText = 500
const longestSingle = 70
const partLength = 67

export function wholeText(signName: string, text: string): string {
  return `【${signName}】${text}`
}

/** How many messages a text of this length is billed as. */
export function countParts(length: number): number {
  return length <= longestSingle ? 1 : Math.ceil(length / partLength)
}

/** Names that mean something to every JavaScript object are never a variable. */
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const mostVariables = 30

const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,31}$/

/** Whatever stands between `${` and the next `}`, or the end of the text. */
const placeholder = /\$\{([^}]*)(\}?)/g

export type ParsedTemplate = { readonly variables: readonly string[] } | { readonly problem: Text }

/** The names of the variables in the order of their first appearance. */
export function parseTemplate(content: string): ParsedTemplate {
  const variables = new Set<string>()
  for (const [, name = '', close] of content.matchAll(placeholder)) {
    if (close === '' || !variableName.test(name) || forbiddenNames.has(name)) {
      const shown = name.slice(0, 32)
      return {
        problem: {
          zh: `变量 \${${shown}} 无效：以字母或下划线开头，只含字母、数字、下划线，至多 32 个字符`,
          en: `the variable \${${shown}} is not valid: a letter or _, then letters, digits or _, 32 at most`,
        },
      }
    }
    variables.add(name)
  }
  if (variables.size > mostVariables) {
    return {
      problem: {
        zh: `变量至多 ${mostVariables} 个`,
        en: `a template has ${mostVariables} variables at most`,
      },
    }
  }
  return { variables: [...variables] }
}

/** One pass: a value that looks like a variable stays the text it is. */
export function fillTemplate(content: string, values: ReadonlyMap<string, string>): string {
  return content.replace(placeholder, (whole, name: string) => values.get(name) ?? whole)
}

/** Which variables of the template have no value, and which values have no variable. */
export function compareVariables(
  variables: readonly string[],
  values: ReadonlyMap<string, string>,
): { readonly missing: readonly string[]; readonly surplus: readonly string[] } {
  return {
    missing: variables.filter((name) => !values.has(name)),
    surplus: [...values.keys()].filter((name) => !variables.includes(name)),
  }
}

/** A send's serial number: 18 digits made of the number the database gave the record. Unique and growing by that alone. */
export function bizIdOf(recordId: number): string {
  return `1${String(recordId).padStart(17, '0')}`
}

export function recordIdOf(bizId: string): number | undefined {
  if (!/^1\d{17}$/.test(bizId)) return undefined
  const id = Number(bizId.slice(1))
  return Number.isSafeInteger(id) && id > 0 ? id : undefined
}
