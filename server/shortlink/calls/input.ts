// Reads the parameters of the short link operations; one error names every problem.
import type { Parameters, Values } from '../../../contract/parameters.ts'
import type { Text } from '../../../contract/text.ts'
import { type Call, readCallParameters } from '../../http/call.ts'
import { AppError } from '../../http/errors.ts'
import {
  type InvalidParameter,
  parameterError,
  problemTexts,
  type ReadResult,
} from '../../http/parameters.ts'

export const missingTexts = {
  generate: { zh: '生成短链接缺少必要参数', en: 'generate is missing required parameters' },
  generate_batch: { zh: '批量生成短链接缺少必要参数', en: 'generate_batch is missing required parameters' },
  update: { zh: '更新短链接缺少必要参数', en: 'update is missing required parameters' },
  execute_update: { zh: '执行更新缺少必要参数', en: 'execute_update is missing required parameters' },
  get: { zh: '查询短链接缺少必要参数', en: 'get is missing required parameters' },
  list: { zh: '短链接列表缺少必要参数', en: 'list is missing required parameters' },
  stats: { zh: '访问统计缺少必要参数', en: 'stats is missing required parameters' },
  pause: { zh: '暂停短链接缺少必要参数', en: 'pause is missing required parameters' },
  resume: { zh: '恢复短链接缺少必要参数', en: 'resume is missing required parameters' },
  delete: { zh: '删除短链接缺少必要参数', en: 'delete is missing required parameters' },
} as const satisfies Record<string, Text>

export type ShortlinkAction = keyof typeof missingTexts

export function readInput<const P extends Parameters>(
  call: Call,
  description: P,
  action: ShortlinkAction,
): Values<P> {
  return requireValid(readCallParameters(call, description), action)
}

export function requireValid<P extends Parameters>(
  { values, missing, invalid }: ReadResult<P>,
  action: ShortlinkAction,
): Values<P> {
  if (missing.length > 0) throw missingError(action, missing, invalid)
  if (invalid.length > 0) throw parameterError(missing, invalid)
  return values
}

export function missingError(
  action: ShortlinkAction,
  missing: readonly string[],
  invalid: readonly InvalidParameter[] = [],
): AppError {
  const { zh, en } = missingTexts[action]
  return new AppError(1001, {
    zh: [`${zh}：${missing.join('、')}`, ...problemTexts(invalid, 'zh')].join('；'),
    en: [`${en}: ${missing.join(', ')}`, ...problemTexts(invalid, 'en')].join('; '),
  })
}

/** The problem of a value that is none of the listed ones. */
export function choiceProblem(
  name: string,
  value: string | undefined,
  choices: readonly string[],
): InvalidParameter[] {
  if (value === undefined || choices.includes(value)) return []
  return [{ name, text: { zh: `只能是 ${choices.join('、')}`, en: `must be one of ${choices.join(', ')}` } }]
}

export function say(call: Call, zh: string, en: string): string {
  return call.language === 'en' ? en : zh
}
