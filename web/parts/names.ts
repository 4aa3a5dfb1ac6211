// Display names of the four endpoints, their credit types and calls.
import type { EndpointName } from '../../contract/console/values.ts'
import { type ApiType, apiTypeNames } from '../../contract/credits.ts'
import type { Text } from '../../contract/text.ts'

/** For narrow columns and rows of four. */
export const shortTypeNames: Readonly<Record<ApiType, Text>> = {
  short_link: { zh: '短链接', en: 'Links' },
  sms: { zh: '短信', en: 'SMS' },
  id_verification: { zh: '核验', en: 'Identity' },
  domain_check: { zh: '域名', en: 'Domains' },
}

const endpointTypes: Readonly<Record<EndpointName, ApiType>> = {
  shortlink: 'short_link',
  sms: 'sms',
  identity: 'id_verification',
  'domain-check': 'domain_check',
}

export function endpointText(name: EndpointName): Text {
  return apiTypeNames[endpointTypes[name]]
}

const callWords: Readonly<Record<string, Text>> = {
  'domain-check check': { zh: '批量', en: 'batch' },
}

/** What a call without an `action` parameter did; undefined when its action says so. */
export function callWord(endpoint: EndpointName, action: string | null): Text | undefined {
  return callWords[`${endpoint} ${action}`]
}

/** `短信 send`, `域名检测 · 批量`; the endpoint alone when the call failed before its action was known. */
export function callText(endpoint: EndpointName, action: string | null): Text {
  const { zh, en } = endpointText(endpoint)
  const word = callWord(endpoint, action)
  if (word) return { zh: `${zh} · ${word.zh}`, en: `${en} · ${word.en}` }
  return action === null ? { zh, en } : { zh: `${zh} ${action}`, en: `${en} ${action}` }
}
