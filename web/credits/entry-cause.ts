// What caused a ledger entry, in words, and the page that shows it.
import { importAction, watchAction } from '../../contract/console/credits.ts'
import type { LedgerEntry } from '../../contract/console/responses/credits.ts'
import type { Text } from '../../contract/text.ts'
import { callText } from '../parts/names.ts'

type EntryOperation = NonNullable<LedgerEntry['operation']>

interface EntryCause {
  /** Undefined: the action itself, such as `sms.send`. */
  readonly text?: Text
  readonly to: string
  readonly search: Readonly<Record<string, string>>
  /** Whether it is a call in the request log. */
  readonly isCall: boolean
}

/** Charges of the watch list and of imports are not in the request log: they lead to their own pages. */
export function causeOf({ action, request_id }: Pick<EntryOperation, 'action' | 'request_id'>): EntryCause {
  if (action === watchAction) {
    const text = { zh: '域名检测 · 监控', en: 'Domain check · watch list' }
    return { text, to: '/domain-check', search: { tab: 'watch' }, isCall: false }
  }
  if (action === importAction) {
    const text = { zh: '短链接 · 导入', en: 'Short links · import' }
    return { text, to: '/shortlink/imports', search: {}, isCall: false }
  }
  return {
    ...(action === 'domain.check' ? { text: callText('domain-check', 'check') } : {}),
    to: '/requests',
    search: { open: request_id },
    isCall: true,
  }
}
