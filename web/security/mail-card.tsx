// The verified mail address: password recovery and security notices go there.
import { App, Button, Card, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { mailCodeLength, maxMailLength } from '../../contract/console/limits.ts'
import { type CodeInput, securityRoutes } from '../../contract/console/security.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { securityText } from './text.ts'

export function MailCard({ address, readOnly }: { address: string | null; readOnly: boolean }): ReactNode {
  const t = useText(securityText)
  const { message } = App.useApp()
  const [addressForm] = Form.useForm<{ address: string }>()
  const [codeForm] = Form.useForm<CodeInput>()
  const [step, setStep] = useState<'address' | 'code' | 'remove'>()
  const [sentTo, setSentTo] = useState('')
  const set = useApiMutation(securityRoutes.setMail)
  const verify = useApiMutation(securityRoutes.verifyMail)
  const remove = useApiMutation(securityRoutes.removeMail)
  const required = { required: true, message: t.required }
  return (
    <Card title={<h2>{t.mail}</h2>}>
      <div className="stack">
        <span>{address ?? t.noMail}</span>
        <span className="muted">{t.mailText}</span>
        {!readOnly && (
          <div className="row">
            <Button onClick={() => setStep('address')}>{address === null ? t.addMail : t.changeMail}</Button>
            {address !== null && (
              <Button danger onClick={() => setStep('remove')}>
                {t.removeMail}
              </Button>
            )}
          </div>
        )}
      </div>
      <FormDialog<{ address: string }>
        open={step === 'address'}
        title={t.addMail}
        ok={t.sendCode}
        danger={false}
        form={addressForm}
        onClose={() => setStep((now) => (now === 'address' ? undefined : now))}
        onSubmit={async (body) => {
          const { sent } = await set.mutateAsync({ body })
          if (!sent) message.warning(t.mailNotSent)
          setSentTo(body.address)
          setStep('code')
        }}
      >
        <Form.Item name="address" label={t.mail} rules={[required]}>
          <Input type="email" autoComplete="email" maxLength={maxMailLength} />
        </Form.Item>
      </FormDialog>
      <FormDialog<CodeInput>
        open={step === 'code'}
        title={t.verifyMail}
        ok={t.verifyMail}
        danger={false}
        form={codeForm}
        header={<span>{t.mailCodeText(sentTo)}</span>}
        onClose={() => setStep(undefined)}
        onSubmit={async (body) => {
          await verify.mutateAsync({ body })
          message.success(t.mailVerified)
        }}
      >
        <Form.Item name="code" label={t.mailCode} rules={[required]}>
          <Input
            className="mono"
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={mailCodeLength}
          />
        </Form.Item>
      </FormDialog>
      <Confirm
        open={step === 'remove'}
        danger
        title={t.removeMail}
        consequence={t.removeMailText}
        ok={t.removeMail}
        onClose={() => setStep(undefined)}
        onConfirm={async () => {
          await remove.mutateAsync({ body: {} })
          message.success(t.mailRemoved)
        }}
      />
    </Card>
  )
}
