// The four endpoints by the names people know them by.
import type { EndpointName } from '../../contract/console/home.ts'
import { type ApiType, apiTypeNames } from '../../contract/credits.ts'
import type { Text } from '../../contract/text.ts'

const typeOfEndpoint: Readonly<Record<EndpointName, ApiType>> = {
  shortlink: 'short_link',
  sms: 'sms',
  identity: 'id_verification',
  'domain-check': 'domain_check',
}

export function endpointText(name: EndpointName): Text {
  return apiTypeNames[typeOfEndpoint[name]]
}
