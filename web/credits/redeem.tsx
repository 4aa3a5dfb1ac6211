// The dialog that redeems a code. It shows the amount before it redeems.
import { App, Button, Form, Input, Modal } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { creditRoutes } from '../../contract/console/credits.ts'
import { maxRedeemCodeLength } from '../../contract/console/limits.ts'
import type { RedeemPreview } from '../../contract/console/responses/credits.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { formatCount } from '../parts/format.tsx'
import { focusFirstField, showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { creditsText } from './text.ts'

export function Redeem({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useText(creditsText)
  const pick = usePick()
  const { message } = App.useApp()
  const [form] = Form.useForm<{ code: string }>()
  const [previewed, setPreviewed] = useState<RedeemPreview>()
  const preview = useApiMutation(creditRoutes.previewCode)
  const redeem = useApiMutation(creditRoutes.redeem)
  const busy = preview.isPending || redeem.isPending
  useEffect(() => {
    if (open) return
    setPreviewed(undefined)
    preview.reset()
    redeem.reset()
  }, [open])

  const submit = ({ code }: { code: string }) => {
    const onError = (error: Error) => void showFieldErrors(form, error)
    if (!previewed) {
      preview.mutate({ body: { code } }, { onSuccess: setPreviewed, onError })
      return
    }
    redeem.mutate(
      { body: { code } },
      {
        onSuccess: ({ api_type, amount, balance }) => {
          message.success(
            t.redeemed(formatCount(amount), pick(apiTypeNames[api_type]), formatCount(balance.remaining)),
          )
          onClose()
        },
        onError,
      },
    )
  }

  return (
    <Modal
      open={open}
      title={t.redeem}
      footer={null}
      onCancel={onClose}
      destroyOnHidden
      afterOpenChange={(isOpen) => isOpen && focusFirstField('redeem')}
    >
      <Form id="redeem" preserve={false} name="redeem" form={form} layout="vertical" onFinish={submit}>
        <p className="muted">{t.singleUse}</p>
        <Form.Item
          name="code"
          label={t.code}
          extra={t.codeHint}
          rules={[{ required: true, whitespace: true, message: t.required }]}
        >
          <Input
            className="mono"
            autoComplete="off"
            maxLength={maxRedeemCodeLength}
            readOnly={previewed !== undefined}
          />
        </Form.Item>
        <div className="stack">
          {previewed && (
            <div className="key-box">
              <strong>
                {t.preview(formatCount(previewed.amount), pick(apiTypeNames[previewed.api_type]))}
              </strong>
              <div className="muted small">
                {previewed.expires_on === null ? t.neverExpires : t.expires(previewed.expires_on)}
              </div>
            </div>
          )}
          <ActionError error={redeem.error ?? preview.error} />
          <div className="row" style={{ justifyContent: 'flex-end' }}>
            {previewed && (
              <Button
                onClick={() => {
                  setPreviewed(undefined)
                  redeem.reset()
                }}
              >
                {t.anotherCode}
              </Button>
            )}
            <Button type="primary" htmlType="submit" loading={busy}>
              {previewed ? t.confirm : t.check}
            </Button>
          </div>
        </div>
      </Form>
    </Modal>
  )
}
