// The states of a signature or template at the vendors that review it too.
import type { ReactNode } from 'react'
import type { VendorReview } from '../../contract/console/responses/sms.ts'
import { dictionary, useText } from '../frame/i18n.ts'
import { StatusLabel, type Tone } from '../parts/format.tsx'

const vendorText = dictionary(
  {
    aliyun: '阿里云',
    tencent: '腾讯云',
    none: '未提交',
    waiting: '待提交',
    reviewing: '服务商审核中',
    approved: '服务商已通过',
    refused: '服务商未通过',
    failed: '提交失败',
  },
  {
    aliyun: 'Aliyun',
    tencent: 'Tencent',
    none: 'not submitted',
    waiting: 'to be submitted',
    reviewing: 'in review',
    approved: 'approved',
    refused: 'rejected',
    failed: 'failed',
  },
)

const tones: Readonly<Record<VendorReview['state'], Tone>> = {
  none: 'muted',
  waiting: 'pending',
  reviewing: 'pending',
  approved: 'success',
  refused: 'error',
  failed: 'warning',
}

export function VendorStates({ vendors }: { vendors: readonly VendorReview[] }): ReactNode {
  const t = useText(vendorText)
  const names: Readonly<Record<string, string>> = { aliyun: t.aliyun, tencent: t.tencent }
  return vendors.map(({ gateway, state, reason }) => (
    <div key={gateway} className="small">
      <StatusLabel tone={tones[state]}>{`${names[gateway] ?? gateway} ${t[state]}`}</StatusLabel>
      {reason !== null && (
        <div className="muted" style={{ maxWidth: 240, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
          {reason}
        </div>
      )}
    </div>
  ))
}
