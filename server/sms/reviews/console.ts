// The state of signatures and templates at vendors, as account holders and operators see it.
import type { VendorReview } from '../../../contract/console/responses/sms.ts'
import type { Language, Text } from '../../../contract/text.ts'
import type { VendorReviewRow } from './store.ts'

const known: Readonly<Record<string, Text>> = {
  unknown_result: {
    zh: '无法确认服务商是否收到，请在服务商控制台核对后重新提交',
    en: 'It is not known whether the vendor has it: look there, then submit it again',
  },
  not_prepared: {
    zh: '提交前出错，没有提交给服务商',
    en: 'It failed before it was submitted to the vendor',
  },
  deleted: { zh: '已删除', en: 'It was deleted' },
  no_gateway: { zh: '该网关已不在 SMS_GATEWAYS 中', en: 'The gateway is no longer in SMS_GATEWAYS' },
  no_qualification: {
    zh: '未设置资质 ID（ALIYUN_SMS_QUALIFICATION_ID 或 TENCENT_SMS_QUALIFICATION_ID）',
    en: 'The qualification id is not set (ALIYUN_SMS_QUALIFICATION_ID or TENCENT_SMS_QUALIFICATION_ID)',
  },
  no_image: { zh: '缺少 PNG 或 JPEG 格式的证明材料', en: 'A proof as PNG or JPEG is missing' },
  unsupported_type: {
    zh: '服务商不接受该类型的签名',
    en: 'The vendor does not take signatures of this type',
  },
}

/** Codes of missing rights at the vendor. */
const denied =
  /^(?:isp\.RAM_PERMISSION_DENY|Forbidden|NoPermission|UnauthorizedOperation|AuthFailure|FailedOperation\.(?:NotEnterpriseCertification|ProhibitSubAccountUse))/

/** Codes of `httpCall`: the vendor could not be reached. */
const unreachable = /^(?:E[A-Z_]+|UND_[A-Z_]+|timeout|aborted)$/

function describeVendorReason(reason: string, language: Language): string | null {
  if (reason === '') return null
  const text = known[reason]
  if (text) return text[language]
  if (denied.test(reason))
    return language === 'zh'
      ? `服务商账号没有相应权限：${reason}`
      : `The vendor account lacks the right: ${reason}`
  if (unreachable.test(reason))
    return language === 'zh' ? `暂时无法连接服务商（${reason}）` : `The vendor cannot be reached (${reason})`
  return reason
}

export function vendorReviewOf(row: VendorReviewRow, language: Language): VendorReview {
  return {
    gateway: row.gateway,
    state: row.state,
    reason: describeVendorReason(row.reason, language),
    updated_at: row.updated_at,
  }
}
