// The name in 【】 at the start of every SMS.
import { App, Button, Card, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { smsRoutes } from '../../contract/console/sms.ts'
import { useAsk, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Ago } from '../parts/figures.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { Loaded } from '../parts/loaded.tsx'
import { StepError } from '../parts/step-error.tsx'
import { ReviewState } from '../sms/review-state.tsx'
import { accountText } from './text.ts'

export function SignatureCard({ readOnly }: { readOnly: boolean }): ReactNode {
  const words = useText(accountText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ sign_name: string }>()
  const signature = useAsk(smsRoutes.signature, {})
  const change = useTell(smsRoutes.changeSignature)
  const [removing, setRemoving] = useState(false)
  return (
    <Card title={<h2>{words.signature}</h2>}>
      <p style={{ marginTop: 0 }} className="prose">
        {words.signatureText}
      </p>
      <Loaded asked={signature}>
        {({ sign_name, platform_sign_name, request }) => (
          <div className="stack">
            <div className="row">
              <span className="muted">{words.signatureNow}</span>
              {sign_name === null ? (
                words.signaturePlatform(platform_sign_name)
              ) : (
                <strong>【{sign_name}】</strong>
              )}
              {sign_name !== null && !readOnly && (
                <Button size="small" onClick={() => setRemoving(true)}>
                  {words.signatureRemove}
                </Button>
              )}
            </div>
            {request && (
              <div className="row">
                <strong>【{request.sign_name}】</strong>
                <ReviewState state={request.state} />
                <Ago at={request.at} />
                {request.reason && <span className="tone-error">{request.reason}</span>}
              </div>
            )}
            {!readOnly && (
              <Form
                name="signature"
                form={form}
                layout="vertical"
                requiredMark={false}
                style={{ maxWidth: 400 }}
                onFinish={(sent) =>
                  change.mutate(
                    { sent },
                    {
                      onSuccess: () => {
                        form.resetFields()
                        message.success(words.signatureSent)
                      },
                      onError: (error) => void showFieldErrors(form, error),
                    },
                  )
                }
              >
                <Form.Item
                  name="sign_name"
                  label={words.signatureNew}
                  rules={[
                    { required: true, message: words.required },
                    { pattern: /^[^【】[\]]{2,20}$/u, message: words.signatureRule },
                  ]}
                >
                  <Input showCount maxLength={20} />
                </Form.Item>
                <div className="stack">
                  <StepError error={change.error} />
                  <div>
                    <Button htmlType="submit" loading={change.isPending}>
                      {words.signatureSubmit}
                    </Button>
                  </div>
                </div>
              </Form>
            )}
          </div>
        )}
      </Loaded>
      <Confirm
        open={removing}
        danger
        title={words.signatureRemove}
        consequence={words.signatureRemoveText}
        ok={words.signatureRemove}
        onClose={() => setRemoving(false)}
        onConfirm={async () => {
          await change.mutateAsync({ sent: { sign_name: '' } })
          message.success(words.signatureRemoved)
        }}
      />
    </Card>
  )
}
