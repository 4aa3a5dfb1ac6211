// Signatures in the reference of the SMS endpoint.
import { Type } from 'typebox'
import { envelopeOf, object, oneOf, type OperationReference, text } from '../reference.ts'
import { templateStates } from '../sms-text.ts'

export const smsSignature = object(
  {
    sign_name: Type.String(text('签名，不含【】', 'Signature, without 【】')),
    state: oneOf(templateStates, '审核状态', 'Review state: pending, approved, rejected'),
    is_default: Type.Boolean(
      text('是否为默认签名（未传 sign_name 时使用）', 'Whether it is used when sign_name is omitted'),
    ),
  },
  '签名',
  'A signature',
)

export const signaturesReference: OperationReference = {
  notes: [
    {
      zh: '返回本账户的全部签名，包括审核中的。没有默认签名时，未传 sign_name 的短信使用平台签名。',
      en: 'Lists all signatures of the account, whatever their review status. Without a default signature, messages without sign_name use the platform’s signature.',
    },
    {
      zh: '在控制台“短信 / 签名”提交签名与证明材料。',
      en: 'Submit signatures and supporting documents in the console under SMS / Signatures.',
    },
  ],
  response: envelopeOf(Type.Array(smsSignature, text('签名', 'Signatures'))),
  errors: [],
  examples: [
    {
      title: { zh: '签名列表', en: 'List signatures' },
      values: {},
      status: 200,
      response: {
        code: 0,
        message: 'success',
        data: [{ sign_name: '云帆商城', state: '审核通过', is_default: true }],
      },
      varies: ['data'],
    },
  ],
}
