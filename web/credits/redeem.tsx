// Redeeming a code: the amount is shown before it is taken.
import { App, Button, Form, Input, Modal } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { creditRoutes, type RedeemPreview } from '../../contract/console/credits.ts'
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
  const [seen, setSeen] = useState<RedeemPreview>()
  const preview = useApiMutation(creditRoutes.previewCode)
  const redeem = useApiMutation(creditRoutes.redeem)
  const busy = preview.isPending || redeem.isPending
  useEffect(() => {
    if (open) return
    setSeen(undefined)
    preview.reset()
    redeem.reset()
    // Only closing clears it.
  }, [open])

  const submit = ({ code }: { code: string }) => {
    const onError = (error: Error) => void showFieldErrors(form, error)
    if (!seen) {
      preview.mutate({ body: { code } }, { onSuccess: setSeen, onError })
      return
    }
    redeem.mutate(
      { body: { code } },
      {
        onSuccess: ({ api_type, amount, balance }) => {
          message.success(
            t.taken(formatCount(amount), pick(apiTypeNames[api_type]), formatCount(balance.remaining)),
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
      <Form
        id="redeem"
        preserve={false}
        name="redeem"
        form={form}
        layout="vertical"
        requiredMark={false}
        onFinish={submit}
      >
        <p className="muted">{t.once}</p>
        <Form.Item
          name="code"
          label={t.code}
          extra={t.codeHint}
          rules={[{ required: true, whitespace: true, message: t.required }]}
        >
          <Input className="mono" autoComplete="off" maxLength={64} readOnly={seen !== undefined} />
        </Form.Item>
        <div className="stack">
          {seen && (
            <div className="key-box">
              <strong>{t.preview(formatCount(seen.amount), pick(apiTypeNames[seen.api_type]))}</strong>
              <div className="muted small">
                {seen.expires_on === null ? t.noEnd : t.expires(seen.expires_on)}
              </div>
            </div>
          )}
          <ActionError error={redeem.error ?? preview.error} />
          <div className="row" style={{ justifyContent: 'flex-end' }}>
            {seen && (
              <Button
                onClick={() => {
                  setSeen(undefined)
                  redeem.reset()
                }}
              >
                {t.back}
              </Button>
            )}
            <Button type="primary" htmlType="submit" loading={busy}>
              {seen ? t.take : t.check}
            </Button>
          </div>
        </div>
      </Form>
    </Modal>
  )
}
