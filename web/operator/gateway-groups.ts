// The three groups of gateways by name.
import type { GatewayGroup } from '../../contract/console/values.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import type { Text } from '../../contract/text.ts'

export const gatewayGroupText: Readonly<Record<GatewayGroup, Text>> = {
  sms: apiTypeNames.sms,
  identity: apiTypeNames.id_verification,
  domain_check: apiTypeNames.domain_check,
}
