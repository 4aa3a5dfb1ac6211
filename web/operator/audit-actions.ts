// What was done, in words. An action of a newer service stands there as its name.
import type { Text } from '../../contract/text.ts'

export const auditActions: Readonly<Record<string, Text>> = {
  'account.create': { zh: '创建账户', en: 'Account created' },
  'account.sign_up': { zh: '注册账户', en: 'Signed up' },
  'account.change': { zh: '修改账户', en: 'Account changed' },
  'account.reset_password': { zh: '重置密码', en: 'Password reset' },
  'account.view': { zh: '查看账户', en: 'Account looked at' },
  'credits.grant': { zh: '发放额度', en: 'Credits granted' },
  'credits.take': { zh: '收回额度', en: 'Credits taken back' },
  'key.reset': { zh: '重置密钥', en: 'Key reset' },
  'key.clear': { zh: '清除密钥', en: 'Key cleared' },
  'template.approve': { zh: '模板通过', en: 'Template approved' },
  'template.refuse': { zh: '模板不通过', en: 'Template refused' },
  'signature.approve': { zh: '签名通过', en: 'Signature approved' },
  'signature.refuse': { zh: '签名不通过', en: 'Signature refused' },
  'redeem.make': { zh: '生成兑换码', en: 'Codes made' },
  'redeem.revoke': { zh: '作废兑换码', en: 'Code revoked' },
  'redeem.revoke_batch': { zh: '作废整批', en: 'Batch revoked' },
  'domain.add': { zh: '添加域名', en: 'Domain added' },
  'domain.remove': { zh: '移除域名', en: 'Domain removed' },
  'gateway.test': { zh: '测试网关', en: 'Gateway tested' },
}
