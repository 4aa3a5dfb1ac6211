// Texts of the operator's SMS page.
import { dictionary } from '../frame/i18n.ts'

export const operatorSmsText = dictionary(
  {
    title: '短信管理',
    lead: '全部账户的短信统计，以及所有账户可用的公共模板。',
    statistics: '统计',
    templates: '公共模板',
    templatesLead:
      '公共模板无需审核，所有账户都可以使用。添加入门模板后，新账户可以直接用示例发送第一条短信。',
    addTemplate: '创建公共模板',
    addStarters: '添加入门模板',
    startersAdded: '入门模板已就绪',
    added: '公共模板已添加，所有账户立即可用',
    noTemplates: '还没有公共模板。',
  },
  {
    title: 'SMS operations',
    lead: 'Statistics of all accounts, and the templates that every account can use.',
    statistics: 'Statistics',
    templates: 'Shared templates',
    templatesLead:
      'Shared templates need no review and every account can use them. With the starter templates a new account can send its first message from the samples.',
    addTemplate: 'Create shared template',
    addStarters: 'Add starter templates',
    startersAdded: 'Starter templates added',
    added: 'Added; every account can use it now',
    noTemplates: 'No shared templates yet.',
  },
)
