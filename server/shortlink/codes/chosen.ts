// Codes that callers choose: what they look like, and which are not available.
import { linkLimits, shortCodePattern } from '../../../contract/shortlink.ts'
import type { Text } from '../../../contract/text.ts'
import { isOffensiveChoice, isReserved } from './code.ts'

const pattern = new RegExp(shortCodePattern)

export function isChosenCode(code: string): boolean {
  return pattern.test(code)
}

export function chosenCodeProblem(
  code: string,
): { readonly text: Text; readonly isWhole?: true } | undefined {
  if (!isChosenCode(code)) return { text: malformedCode }
  return isReserved(code) || isOffensiveChoice(code) ? { text: unavailableCode, isWhole: true } : undefined
}

const { min, max } = linkLimits.codeLength
const malformedCode: Text = {
  zh: `必须是 ${min} 至 ${max} 个字母、数字、_ 或 -，首尾为字母或数字`,
  en: `must have ${min}–${max} letters, digits, _ or -, first and last a letter or digit`,
}
const unavailableCode: Text = { zh: '短码不可用', en: 'This short code is not available' }
export const takenCode: Text = { zh: '短码已被占用', en: 'This short code is taken' }
