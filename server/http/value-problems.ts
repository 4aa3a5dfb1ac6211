// What is wrong with the value of a parameter. Each text follows the name of the parameter in a message.
import type { Text } from '../../contract/text.ts'

export const notADay: Text = { zh: '必须是 YYYY-MM-DD 格式的日期', en: 'must be a date like YYYY-MM-DD' }

export const notATime: Text = {
  zh: '必须是 YYYY-MM-DD HH:MM:SS 格式的时间',
  en: 'must be a time like YYYY-MM-DD HH:MM:SS',
}

export const inThePast: Text = { zh: '必须晚于当前时间', en: 'must be in the future' }

export function notBetween(min: number, max: number): Text {
  return { zh: `必须是 ${min} 至 ${max} 的整数`, en: `must be an integer from ${min} to ${max}` }
}

export function longerThan(max: number): Text {
  return { zh: `最多 ${max} 个字符`, en: `has at most ${max} characters` }
}
