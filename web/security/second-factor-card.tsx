// Two-factor authentication: enrolment with a QR code, recovery codes, and switching it off.
import { Alert, App, Button, Card, Form, Input, QRCode } from 'antd'
import { type ReactNode, useState } from 'react'
import { fewRecoveryCodes, maxFactorCodeLength } from '../../contract/console/limits.ts'
import type { SecurityState } from '../../contract/console/responses/security.ts'
import { type CodeInput, securityRoutes } from '../../contract/console/security.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { download } from '../parts/download.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { LeaveGuard } from '../parts/leave-guard.tsx'
import { RelativeTime, StatusLabel } from '../parts/format.tsx'
import { securityText } from './text.ts'

interface SecondFactorCardProps {
  readonly state: SecurityState['second_factor']
  readonly readOnly: boolean
}

type Enrolment = { readonly secret: string; readonly uri: string }

export function SecondFactorCard({ state, readOnly }: SecondFactorCardProps): ReactNode {
  const t = useText(securityText)
  const { message } = App.useApp()
  const [enrolment, setEnrolment] = useState<Enrolment>()
  const [asking, setAsking] = useState<'disable' | 'renew'>()
  // The codes exist only here, until the user leaves the page or confirms that they are saved.
  const [codes, setCodes] = useState<readonly string[]>()
  const enrol = useApiMutation(securityRoutes.enrol)
  const enable = useApiMutation(securityRoutes.enable)
  const renew = useApiMutation(securityRoutes.renewCodes)
  const disable = useApiMutation(securityRoutes.disable)
  const isEnabled = state.enabled_at !== null
  return (
    <Card title={<h2>{t.secondFactor}</h2>}>
      {codes ? (
        <NewCodes codes={codes} onSaved={() => setCodes(undefined)} />
      ) : (
        <div className="stack">
          <span className="row">
            {isEnabled ? (
              <StatusLabel tone="success">{t.enabled}</StatusLabel>
            ) : (
              <StatusLabel tone="warning">{t.notEnabled}</StatusLabel>
            )}
            {isEnabled && <RelativeTime at={state.enabled_at} />}
          </span>
          {isEnabled && state.recovery_codes_left <= fewRecoveryCodes ? (
            <Alert type="warning" showIcon title={t.fewCodes(state.recovery_codes_left)} />
          ) : (
            <span className="muted">
              {isEnabled ? t.codesLeft(state.recovery_codes_left) : t.secondFactorText}
            </span>
          )}
          {!readOnly && !isEnabled && enrolment === undefined && (
            <div>
              <Button
                type="primary"
                loading={enrol.isPending}
                onClick={() => enrol.mutate({ body: {} }, { onSuccess: setEnrolment })}
              >
                {t.enable}
              </Button>
            </div>
          )}
          {!readOnly && isEnabled && (
            <div className="row">
              <Button onClick={() => setAsking('renew')}>{t.renew}</Button>
              {!state.required && (
                <Button danger onClick={() => setAsking('disable')}>
                  {t.disable}
                </Button>
              )}
            </div>
          )}
          <ActionError error={enrol.error} />
        </div>
      )}
      <CodeDialog
        open={enrolment !== undefined}
        title={t.enable}
        ok={t.enable}
        header={enrolment && <Scan enrolment={enrolment} />}
        onClose={() => setEnrolment(undefined)}
        onSubmit={async (body) => {
          const { recovery_codes } = await enable.mutateAsync({ body })
          setCodes(recovery_codes)
        }}
      />
      <CodeDialog
        open={asking === 'renew'}
        title={t.renew}
        ok={t.renew}
        header={<Alert type="info" showIcon title={t.renewText} />}
        onClose={() => setAsking(undefined)}
        onSubmit={async (body) => {
          const { recovery_codes } = await renew.mutateAsync({ body })
          setCodes(recovery_codes)
        }}
      />
      <CodeDialog
        open={asking === 'disable'}
        title={t.disable}
        ok={t.disable}
        danger
        header={<Alert type="warning" showIcon title={t.disableText} />}
        onClose={() => setAsking(undefined)}
        onSubmit={async (body) => {
          await disable.mutateAsync({ body })
          message.success(t.disabled)
        }}
      />
    </Card>
  )
}

function Scan({ enrolment }: { enrolment: Enrolment }): ReactNode {
  const t = useText(securityText)
  const grouped = enrolment.secret.replaceAll(/.{4}(?=.)/g, '$& ')
  return (
    <div className="stack">
      <span>{t.scan}</span>
      {/* Black on white in the dark theme too, because scanners expect it. */}
      <QRCode type="svg" value={enrolment.uri} color="#000" bgColor="#fff" size={200} aria-label={t.qr} />
      <span className="row">
        <span className="mono" data-testid="totp-secret">
          {grouped}
        </span>
        <CopyButton text={enrolment.secret} label={t.key}>
          {t.copyKey}
        </CopyButton>
      </span>
    </div>
  )
}

interface CodeDialogProps {
  readonly open: boolean
  readonly title: string
  readonly ok: string
  readonly danger?: boolean
  readonly header: ReactNode
  readonly onSubmit: (body: CodeInput) => Promise<unknown>
  readonly onClose: () => void
}

function CodeDialog({ danger = false, ...props }: CodeDialogProps): ReactNode {
  const t = useText(securityText)
  const [form] = Form.useForm<CodeInput>()
  return (
    <FormDialog<CodeInput> {...props} danger={danger} form={form} initial={{ code: '' }}>
      <Form.Item name="code" label={t.code} rules={[{ required: true, message: t.required }]}>
        <Input className="mono" autoComplete="one-time-code" maxLength={maxFactorCodeLength} />
      </Form.Item>
    </FormDialog>
  )
}

function NewCodes({ codes, onSaved }: { codes: readonly string[]; onSaved: () => void }): ReactNode {
  const t = useText(securityText)
  const text = codes.join('\n')
  return (
    <div className="stack">
      <Alert type="warning" showIcon title={t.codesOnce} description={t.codesText} />
      <div className="key-box" data-testid="recovery-codes" style={{ whiteSpace: 'pre-line' }}>
        {text}
      </div>
      <div className="row">
        <CopyButton text={text} label={t.recoveryCodes} primary>
          {t.copyCodes}
        </CopyButton>
        <Button onClick={() => download('tollgate-recovery-codes.txt', new Blob([`${text}\n`]))}>
          {t.downloadCodes}
        </Button>
        <Button onClick={onSaved}>{t.saved}</Button>
      </div>
      <LeaveGuard title={t.codesUnsaved} text={t.codesLeave} />
    </div>
  )
}
