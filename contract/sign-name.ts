// What an SMS signature may look like.
import { signName as parameter } from './sms-parameters.ts'
import type { Text } from './text.ts'
import { countCharacters, hasHiddenCharacters } from './values.ts'

/** With quotes, signs and letters that look like brackets. */
const brackets = /[\p{Ps}\p{Pe}<>«»‹›≪≫⋘⋙⋖⋗≺≻˂˃ᐸᐳ]/u

/** Marks are drawn over their neighbours and can be stacked. Those of usual letters are one character with them in NFC. */
const mark = /\p{M}/u

const letterOrDigit = /[\p{L}\p{N}]/u

/** The signature is sent in 【】, so it must not contain brackets itself. */
export function signNameProblem(signName: string): Text | undefined {
  const { minLength, maxLength } = parameter
  const length = countCharacters(signName, maxLength)
  if (length < minLength || length > maxLength) {
    return {
      zh: `签名必须是 ${minLength} 至 ${maxLength} 个字符`,
      en: `a signature has ${minLength} to ${maxLength} characters`,
    }
  }
  if (brackets.test(signName.normalize('NFKC'))) {
    return { zh: '签名不能含括号', en: 'a signature holds no brackets' }
  }
  if (hasHiddenCharacters(signName)) {
    return { zh: '签名不能含不可见字符', en: 'a signature holds no invisible characters' }
  }
  if (mark.test(signName.normalize('NFC'))) {
    return { zh: '签名不能含组合附加符号', en: 'a signature holds no combining marks' }
  }
  if (!letterOrDigit.test(signName)) {
    return { zh: '签名必须含文字或数字', en: 'a signature holds a letter or digit' }
  }
  return undefined
}
