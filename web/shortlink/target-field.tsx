// The field of a link's target, and the rules of addresses and titles in forms.
import { Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { shortlink } from '../../contract/shortlink.ts'
import { useText } from '../frame/i18n.ts'
import { shortlinkText } from './text.ts'

export const webAddress = /^https?:\/\/[^\s/]+\S*$/i
export const { target_url: targetLimits, title: titleLimits } = shortlink.operations.generate.parameters

/** The rule of a field that contains an address. */
export function useAddressRule(): {
  readonly pattern: RegExp
  readonly max: number
  readonly message: string
} {
  const { targetRule } = useText(shortlinkText)
  return { pattern: webAddress, max: targetLimits.maxLength, message: targetRule }
}

export function TargetField({ hint }: { hint?: string }): ReactNode {
  const t = useText(shortlinkText)
  return (
    <Form.Item
      name="target_url"
      label={t.target}
      extra={hint ?? t.targetHint(targetLimits.maxLength)}
      rules={[{ required: true, message: t.targetRule }, useAddressRule()]}
    >
      <Input
        type="url"
        inputMode="url"
        placeholder="https://example.com/landing"
        maxLength={targetLimits.maxLength}
      />
    </Form.Item>
  )
}
