// A form in a dialog: errors of fields are shown at the fields, all others below the form.
import { Form, type FormInstance, Input, Modal } from 'antd'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { maxNoteLength } from '../../contract/console/limits.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from './action-error.tsx'
import { focusFirstField, showFieldErrors } from './form.ts'
import { useInertPage } from './inert-page.ts'
import { partsText } from './text.ts'

interface FormDialogProps<Fields> {
  readonly open: boolean
  readonly title: string
  readonly ok: string
  readonly danger: boolean
  readonly form: FormInstance<Fields>
  readonly initial?: Partial<Fields> | undefined
  /** Shown above the form. */
  readonly header?: ReactNode
  readonly children: ReactNode
  /** Above other dialogs that are open. */
  readonly onTop?: boolean
  readonly onSubmit: (fields: Fields) => Promise<unknown>
  readonly onClose: () => void
}

export function FormDialog<Fields extends object>(props: FormDialogProps<Fields>): ReactNode {
  const { open, title, ok, danger, form, initial, header, children, onSubmit, onClose } = props
  const t = useText(partsText)
  const formId = useId()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  // Two presses of Enter can arrive before the button shows that it is busy.
  const isSubmitting = useRef(false)
  useInertPage(open)
  useEffect(() => {
    if (open) setError(undefined)
  }, [open])

  const submit = async (fields: Fields) => {
    if (isSubmitting.current) return
    isSubmitting.current = true
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(fields)
      onClose()
    } catch (failure) {
      if (!showFieldErrors(form, failure)) setError(failure)
    } finally {
      isSubmitting.current = false
      setBusy(false)
    }
  }

  return (
    <Modal
      open={open}
      title={title}
      okText={ok}
      cancelText={t.cancel}
      okButtonProps={{ danger, htmlType: 'submit', form: formId, loading: isBusy }}
      onCancel={onClose}
      {...(props.onTop === true && { zIndex: 2_000 })}
      afterOpenChange={(isOpen) => isOpen && focusFirstField(formId)}
      destroyOnHidden
    >
      <div className="stack">
        {header}
        <Form<Fields>
          id={formId}
          // Makes the ids of the fields unique among dialogs.
          name={formId}
          form={form}
          preserve={false}
          layout="vertical"
          {...(initial ? { initialValues: initial } : {})}
          onFinish={(fields) => void submit(fields)}
        >
          {children}
        </Form>
        <ActionError error={error} />
      </div>
    </Modal>
  )
}

/** The reason for a change by an operator. */
export function NoteField({
  isOptional = false,
  extra,
}: {
  isOptional?: boolean
  extra?: string | undefined
}): ReactNode {
  const t = useText(partsText)
  return (
    <Form.Item
      name="note"
      label={isOptional ? t.noteOptional : t.note}
      extra={extra}
      rules={isOptional ? [] : [{ required: true, whitespace: true, message: t.noteNeeded }]}
    >
      <Input placeholder={t.noteHint} maxLength={maxNoteLength} />
    </Form.Item>
  )
}
