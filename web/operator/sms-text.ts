// Texts of the operator's SMS page.
import { dictionary } from '../frame/i18n.ts'

export const operatorSmsText = dictionary(
  {
    title: '短信管理',
    lead: '全部账户的短信统计，以及所有账户可用的公共模板。',
  },
  {
    title: 'SMS operations',
    lead: 'Statistics of all accounts, and the templates that every account can use.',
  },
)
