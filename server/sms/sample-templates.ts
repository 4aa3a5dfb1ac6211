// The templates of the sample account: a login code, a notice with two variables, and one in review.
import type { TemplateFields } from './templates.ts'

export const sampleTemplates: readonly TemplateFields[] = [
  {
    code: 'CODE_LOGIN',
    name: '登录验证码',
    type: 'verification',
    content: '您的验证码是${code}，5分钟内有效。',
    status: '审核通过',
  },
  {
    code: 'NOTICE_ORDER',
    name: '订单通知',
    content: '${name}您好，您的订单${order}已发货。',
    status: '审核通过',
  },
  {
    code: 'NOTICE_EVENT',
    name: '活动通知',
    content: '您报名的${event}将于${time}开始，请准时参加。',
    status: '审核中',
  },
]
