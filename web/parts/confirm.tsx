// Confirmation dialogs, with a password or note field where the action needs one.
import { Alert, App, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { FormDialog, NoteField } from './form-dialog.tsx'
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
  readonly onConfirm: (fields: ConfirmFields) => Promise<unknown>
  readonly onClose: () => void
}

export function Confirm(props: ConfirmProps): ReactNode {
  const { consequence, danger = false, withNote = false, password: passwordLabel, onConfirm } = props
  const t = useText(partsText)
  const [form] = Form.useForm<Partial<ConfirmFields>>()
  return (
    <FormDialog<Partial<ConfirmFields>>
      open={props.open}
      title={props.title}
      ok={props.ok}
      danger={danger}
      form={form}
      header={<Alert type={danger ? 'warning' : 'info'} showIcon title={consequence} />}
      onSubmit={({ note = '', password = '' }) => onConfirm({ note, password })}
      onClose={props.onClose}
    >
      {passwordLabel !== undefined && (
        <Form.Item name="password" label={passwordLabel} rules={[{ required: true, message: t.required }]}>
          <Input.Password autoComplete="current-password" />
        </Form.Item>
      )}
      {withNote && <NoteField />}
    </FormDialog>
  )
}

interface ConfirmItemProps<Item> extends Omit<ConfirmProps, 'open' | 'consequence' | 'onConfirm'> {
  /** What the action is about; the dialog is open while it is set. */
  readonly item: Item | undefined
  readonly consequence: (item: Item) => ReactNode
  /** The message after the action. */
  readonly done: string
  readonly onConfirm: (item: Item, fields: ConfirmFields) => Promise<unknown>
}

/** Confirms an action on one item of a list, such as its removal. */
export function ConfirmItem<Item extends object>(props: ConfirmItemProps<Item>): ReactNode {
  const { item, consequence, done, onConfirm, ...dialog } = props
  const { message } = App.useApp()
  return (
    <Confirm
      {...dialog}
      open={item !== undefined}
      consequence={item && consequence(item)}
      onConfirm={async (fields) => {
        if (!item) return
        await onConfirm(item, fields)
        message.success(done)
      }}
    />
  )
}
