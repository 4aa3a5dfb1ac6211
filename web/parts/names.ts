// Display names of the four endpoints and their credit types.
import type { EndpointName } from '../../contract/console/home.ts'
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
