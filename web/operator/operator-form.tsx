// A form in a dialog that ends with a note: every change by an operator says why.
import { Alert, Form, type FormInstance, Input, Modal } from 'antd'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { useText } from '../frame/i18n.ts'
import { focusFirstField, showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { partsText } from '../parts/text.ts'

interface OperatorFormProps<Typed> {
  readonly open: boolean
  readonly title: string
  readonly ok: string
  readonly form: FormInstance<Typed & { note: string }>
  readonly initial?: Partial<Typed>
  /** What the change breaks, when it breaks something. */
  readonly warning?: string | undefined
  readonly children: ReactNode
  readonly onSubmit: (typed: Typed & { note: string }) => Promise<unknown>
  readonly onClose: () => void
}

export function OperatorForm<Typed extends object>(props: OperatorFormProps<Typed>): ReactNode {
  const { open, title, ok, form, initial, warning, children, onSubmit, onClose } = props
  const t = useText(partsText)
  const formId = useId()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    if (open) setError(undefined)
  }, [open])

  const submit = async (typed: Typed & { note: string }) => {
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(typed)
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
      <Form<Typed & { note: string }>
        id={formId}
        // Fields are found by their label: two dialogs must not have the same ids.
        name={formId}
        form={form}
        preserve={false}
        layout="vertical"
        requiredMark={false}
        {...(initial ? { initialValues: initial } : {})}
        onFinish={(typed) => void submit(typed)}
      >
        {children}
        {warning !== undefined && (
          <Alert type="warning" showIcon title={warning} style={{ marginBottom: 16 }} />
        )}
        <Form.Item
          // antd cannot know that every such form has this field.
          name={'note' as never}
          label={t.note}
          rules={[{ required: true, whitespace: true, message: t.noteNeeded }]}
        >
          <Input placeholder={t.noteHint} maxLength={500} />
        </Form.Item>
      </Form>
      <ActionError error={error} />
    </Modal>
  )
}
