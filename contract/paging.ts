// The parameters of lists that can grow: newest first, a page at a time.
import type { Parameters } from './parameters.ts'

export const maxPageSize = 100
export const defaultPageSize = 20

export const pageParameters = {
  cursor: {
    type: 'string',
    required: false,
    text: { zh: '上一页返回的 next_cursor', en: 'next_cursor of the previous page' },
  },
  limit: {
    type: 'integer',
    required: false,
    minimum: 1,
    maximum: maxPageSize,
    default: defaultPageSize,
    text: { zh: '每页条数', en: 'Items per page' },
    example: 20,
  },
} as const satisfies Parameters
