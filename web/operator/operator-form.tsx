// A form in a dialog with a note: the reason for a change by an operator.
import { Alert, type FormInstance } from 'antd'
import type { ReactNode } from 'react'
import { FormDialog, NoteField } from '../parts/form-dialog.tsx'

interface OperatorFormProps<Fields> {
  readonly open: boolean
  readonly title: string
  readonly ok: string
  readonly form: FormInstance<Fields & { note: string }>
  readonly initial?: Partial<Fields>
  /** Shown when the change has an effect on callers. */
  readonly warning?: string | undefined
  readonly isNoteOptional?: boolean
  /** Who else sees the note. */
  readonly noteExtra?: string
  readonly children: ReactNode
  readonly onSubmit: (fields: Fields & { note: string }) => Promise<unknown>
  readonly onClose: () => void
}

export function OperatorForm<Fields extends object>(props: OperatorFormProps<Fields>): ReactNode {
  const { initial, warning, isNoteOptional = false, noteExtra, children, ...dialog } = props
  return (
    <FormDialog<Fields & { note: string }>
      {...dialog}
      initial={initial as Partial<Fields & { note: string }> | undefined}
      danger={warning !== undefined}
    >
      {children}
      {warning !== undefined && (
        <Alert type="warning" showIcon title={warning} style={{ marginBottom: 16 }} />
      )}
      <NoteField isOptional={isNoteOptional} extra={noteExtra} />
    </FormDialog>
  )
}
