// Short names of the credit types, where four of them stand in a row.
import type { ApiType } from '../../contract/credits.ts'
import type { Text } from '../../contract/text.ts'

export const shortTypeNames: Readonly<Record<ApiType, Text>> = {
  short_link: { zh: '短链接', en: 'Links' },
  sms: { zh: '短信', en: 'SMS' },
  id_verification: { zh: '核验', en: 'Identity' },
  domain_check: { zh: '域名', en: 'Domains' },
}
