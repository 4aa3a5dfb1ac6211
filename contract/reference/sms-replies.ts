// Replies in the reference of the SMS endpoint.
import { Type } from 'typebox'
import { maxPageSize } from '../paging.ts'
import { object, type OperationReference, pageOf, text, time } from '../reference.ts'
import { stopWords } from '../sms-text.ts'
import { bizId, recipient } from './sms-parts.ts'

export const smsReply = object(
  {
    phone_number: { ...recipient, ...text('回复的号码', 'Number that replied') },
    content: Type.String(text('回复内容', 'Text of the reply')),
    sign_name: Type.String(text('被回复短信的签名', 'Signature of the message that was replied to')),
    biz_id: bizId,
    received_at: time('收到时间（北京时间）', 'When it arrived, Asia/Shanghai'),
  },
  '回复',
  'A reply',
)

export const repliesReference: OperationReference = {
  notes: [
    {
      zh: `按时间倒序返回。回复按号码和签名关联到 7 天内的最后一条短信。回复 ${stopWords.join('、')}（忽略大小写与首尾空格）的号码进入该签名的退订名单，之后向该号码发送会返回 1002“号码已退订”，不扣费。`,
      en: `Newest first. A reply is matched by number and signature to the last message of the past 7 days. The replies ${stopWords.join(', ')} (case and surrounding spaces are ignored) put the number on the stop list of that signature: later messages to it are rejected with 1002 and not charged.`,
    },
  ],
  response: pageOf(Type.Array(smsReply, { maxItems: maxPageSize, ...text('回复', 'Replies') })),
  errors: [
    {
      code: 1002,
      status: 400,
      when: { zh: '号码、日期、limit 或 cursor 有误', en: 'Invalid number, date, limit or cursor' },
    },
  ],
  examples: [
    {
      title: { zh: '最近的回复', en: 'Latest replies' },
      values: { limit: 2 },
      status: 200,
      response: {
        code: 0,
        message: 'success',
        data: [
          {
            phone_number: '13800138000',
            content: '好的，谢谢',
            sign_name: 'Tollgate',
            biz_id: '100000000000000001',
            received_at: '2026-01-02 03:05:05',
          },
        ],
        next_cursor: null,
      },
      varies: ['data'],
    },
    {
      title: { zh: 'cursor 有误', en: 'Invalid cursor' },
      values: { cursor: 'abc' },
      status: 400,
      response: { code: 1002, message: 'cursor 无效' },
    },
  ],
}
