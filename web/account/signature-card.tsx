// The SMS signature: the name in 【】 at the start of every message.
import { App, Button, Card, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { smsRoutes } from '../../contract/console/sms.ts'
import { sms } from '../../contract/sms.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { RelativeTime } from '../parts/format.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { Loaded } from '../parts/loaded.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { ReviewState } from '../sms/review-state.tsx'
import { accountText } from './text.ts'

const { minLength, maxLength } = sms.operations.send.parameters.sign_name
const signaturePattern = new RegExp(`^[^【】[\\]]{${minLength},${maxLength}}$`, 'u')

export function SignatureCard({ readOnly }: { readOnly: boolean }): ReactNode {
  const t = useText(accountText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ sign_name: string }>()
  const signature = useApiQuery(smsRoutes.signature, {})
  const change = useApiMutation(smsRoutes.changeSignature)
  const [removing, setRemoving] = useState(false)
  return (
    <Card title={<h2>{t.signature}</h2>}>
      <p style={{ marginTop: 0 }} className="prose">
        {t.signatureText(minLength, maxLength)}
      </p>
      <Loaded query={signature}>
        {({ sign_name, platform_sign_name, request }) => (
          <div className="stack">
            <div className="row">
              <span className="muted">{t.signatureNow}</span>
              {sign_name === null ? (
                t.signaturePlatform(platform_sign_name)
              ) : (
                <strong>【{sign_name}】</strong>
              )}
              {sign_name !== null && !readOnly && (
                <Button size="small" onClick={() => setRemoving(true)}>
                  {t.signatureRemove}
                </Button>
              )}
            </div>
            {request && (
              <div className="row">
                <strong>【{request.sign_name}】</strong>
                <ReviewState state={request.state} />
                <RelativeTime at={request.at} />
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
                onFinish={(body) =>
                  change.mutate(
                    { body },
                    {
                      onSuccess: () => {
                        form.resetFields()
                        message.success(t.signatureSubmitted)
                      },
                      onError: (error) => void showFieldErrors(form, error),
                    },
                  )
                }
              >
                <Form.Item
                  name="sign_name"
                  label={t.signatureNew}
                  rules={[
                    { required: true, message: t.required },
                    { pattern: signaturePattern, message: t.signatureRule(minLength, maxLength) },
                  ]}
                >
                  <Input showCount maxLength={maxLength} />
                </Form.Item>
                <div className="stack">
                  <ActionError error={change.error} />
                  <div>
                    <Button htmlType="submit" loading={change.isPending}>
                      {t.signatureSubmit}
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
        title={t.signatureRemove}
        consequence={t.signatureRemoveText}
        ok={t.signatureRemove}
        onClose={() => setRemoving(false)}
        onConfirm={async () => {
          await change.mutateAsync({ body: { sign_name: '' } })
          message.success(t.signatureRemoved)
        }}
      />
    </Card>
  )
}
