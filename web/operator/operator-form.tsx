// A form in a dialog with a required note: the reason for every change by an operator.
import { Alert, Form, type FormInstance, Input, Modal } from 'antd'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { maxNoteLength } from '../../contract/console/limits.ts'
import { useText } from '../frame/i18n.ts'
import { focusFirstField, showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { partsText } from '../parts/text.ts'

interface OperatorFormProps<Fields> {
  readonly open: boolean
  readonly title: string
  readonly ok: string
  readonly form: FormInstance<Fields & { note: string }>
  readonly initial?: Partial<Fields>
  /** Shown when the change has an effect on callers. */
  readonly warning?: string | undefined
  readonly children: ReactNode
  readonly onSubmit: (fields: Fields & { note: string }) => Promise<unknown>
  readonly onClose: () => void
}

export function OperatorForm<Fields extends object>(props: OperatorFormProps<Fields>): ReactNode {
  const { open, title, ok, form, initial, warning, children, onSubmit, onClose } = props
  const t = useText(partsText)
  const formId = useId()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    if (open) setError(undefined)
  }, [open])

  const submit = async (fields: Fields & { note: string }) => {
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(fields)
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
      okButtonProps={{ danger: warning !== undefined, htmlType: 'submit', form: formId, loading: busy }}
      onCancel={onClose}
      afterOpenChange={(isOpen) => isOpen && focusFirstField(formId)}
      destroyOnHidden
    >
      <Form<Fields & { note: string }>
        id={formId}
        // Makes the ids of the fields unique among dialogs.
        name={formId}
        form={form}
        preserve={false}
        layout="vertical"
        requiredMark={false}
        {...(initial ? { initialValues: initial } : {})}
        onFinish={(fields) => void submit(fields)}
      >
        {children}
        {warning !== undefined && (
          <Alert type="warning" showIcon title={warning} style={{ marginBottom: 16 }} />
        )}
        <Form.Item
          // antd cannot derive this name from a generic type.
          name={'note' as never}
          label={t.note}
          rules={[{ required: true, whitespace: true, message: t.noteNeeded }]}
        >
          <Input placeholder={t.noteHint} maxLength={maxNoteLength} />
        </Form.Item>
      </Form>
      <ActionError error={error} />
    </Modal>
  )
}
