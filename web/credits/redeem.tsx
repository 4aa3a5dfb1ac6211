// Redeeming a code: the amount is shown before it is taken.
import { App, Button, Form, Input, Modal } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { creditRoutes, type RedeemPreview } from '../../contract/console/credits.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useTell } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { count } from '../parts/figures.tsx'
import { focusFirstField, showFieldErrors } from '../parts/form.ts'
import { StepError } from '../parts/step-error.tsx'
import { creditsText } from './text.ts'

export function Redeem({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const words = useText(creditsText)
  const pick = usePick()
  const { message } = App.useApp()
  const [form] = Form.useForm<{ code: string }>()
  const [seen, setSeen] = useState<RedeemPreview>()
  const preview = useTell(creditRoutes.previewCode)
  const redeem = useTell(creditRoutes.redeem)
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
      preview.mutate({ sent: { code } }, { onSuccess: setSeen, onError })
      return
    }
    redeem.mutate(
      { sent: { code } },
      {
        onSuccess: ({ api_type, amount, balance }) => {
          message.success(words.taken(count(amount), pick(apiTypeNames[api_type]), count(balance.remaining)))
          onClose()
        },
        onError,
      },
    )
  }

  return (
    <Modal
      open={open}
      title={words.redeem}
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
        <p className="muted">{words.once}</p>
        <Form.Item
          name="code"
          label={words.code}
          extra={words.codeHint}
          rules={[{ required: true, whitespace: true, message: words.required }]}
        >
          <Input className="mono" autoComplete="off" maxLength={64} readOnly={seen !== undefined} />
        </Form.Item>
        <div className="stack">
          {seen && (
            <div className="key-box">
              <strong>{words.preview(count(seen.amount), pick(apiTypeNames[seen.api_type]))}</strong>
              <div className="muted small">
                {seen.expires_on === null ? words.noEnd : words.expires(seen.expires_on)}
              </div>
            </div>
          )}
          <StepError error={redeem.error ?? preview.error} />
          <div className="row" style={{ justifyContent: 'flex-end' }}>
            {seen && (
              <Button
                onClick={() => {
                  setSeen(undefined)
                  redeem.reset()
                }}
              >
                {words.back}
              </Button>
            )}
            <Button type="primary" htmlType="submit" loading={busy}>
              {seen ? words.take : words.check}
            </Button>
          </div>
        </div>
      </Form>
    </Modal>
  )
}
