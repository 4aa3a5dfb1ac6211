// A confirmation dialog, with a password or note field where the action needs one.
import { Alert, Form, Input, Modal } from 'antd'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { maxNoteLength } from '../../contract/console/limits.ts'
import { useText } from '../frame/i18n.ts'
import { focusFirstField, showFieldErrors } from './form.ts'
import { ActionError } from './action-error.tsx'
import { partsText } from './text.ts'

interface ConfirmFields {
  readonly note: string
  readonly password: string
}

interface ConfirmProps {
  readonly open: boolean
  readonly title: string
  /** What the action does and what cannot be undone. */
  readonly consequence: ReactNode
  readonly ok: string
  readonly danger?: boolean
  readonly withNote?: boolean
  /** The label of the password field; no field without it. */
  readonly password?: string
  readonly children?: ReactNode
  readonly onConfirm: (fields: ConfirmFields) => Promise<unknown>
  readonly onClose: () => void
}

export function Confirm(props: ConfirmProps): ReactNode {
  const {
    open,
    title,
    consequence,
    ok,
    danger = false,
    withNote = false,
    password,
    onConfirm,
    onClose,
  } = props
  const t = useText(partsText)
  const [form] = Form.useForm<Partial<ConfirmFields>>()
  const formId = useId()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    if (open) setError(undefined)
  }, [open])

  const submit = async ({ note = '', password: entered = '' }: Partial<ConfirmFields>) => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm({ note, password: entered })
      onClose()
    } catch (failure) {
      if (!showFieldErrors(form, failure)) setError(failure)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Modal
      open={open}
      title={title}
      okText={ok}
      cancelText={t.cancel}
      okButtonProps={{ danger, htmlType: 'submit', form: formId, loading: busy }}
      onCancel={onClose}
      afterOpenChange={(isOpen) => isOpen && focusFirstField(formId)}
      destroyOnHidden
    >
      <div className="stack">
        <Alert type={danger ? 'warning' : 'info'} showIcon title={consequence} />
        {props.children}
        <Form
          id={formId}
          // Makes the ids of the fields unique among dialogs.
          name={formId}
          form={form}
          preserve={false}
          layout="vertical"
          requiredMark={false}
          onFinish={(fields) => void submit(fields)}
        >
          {password !== undefined && (
            <Form.Item name="password" label={password} rules={[{ required: true, message: t.required }]}>
              <Input.Password autoComplete="current-password" />
            </Form.Item>
          )}
          {withNote && (
            <Form.Item
              name="note"
              label={t.note}
              rules={[{ required: true, whitespace: true, message: t.noteNeeded }]}
            >
              <Input placeholder={t.noteHint} maxLength={maxNoteLength} />
            </Form.Item>
          )}
        </Form>
        <ActionError error={error} />
      </div>
    </Modal>
  )
}
