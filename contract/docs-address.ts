// Addresses in the public reference.
import type { Endpoint } from './endpoint.ts'
import type { Language } from './text.ts'

/** `/docs/en/errors/1001`; without a page, the reference itself. */
export function docsAddress(language: Language, page = ''): string {
  return `/docs/${language === 'en' ? 'en/' : ''}${page}`
}

/** The heading of an operation in the reference. */
export function operationAnchor({ name }: Pick<Endpoint, 'name'>, operation: string): string {
  return `${name}-${operation.replaceAll('_', '-')}`
}
