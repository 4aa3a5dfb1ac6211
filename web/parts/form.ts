// Shows field errors of the service at the fields of a form.
import type { FormInstance } from 'antd'
import { ApiError } from '../api/client.ts'
import { asSentence } from '../api/sentence.ts'

/** Moves the focus to the first field when a dialog opens. */
export function focusFirstField(formId: string): void {
  const form = document.getElementById(formId)
  form?.querySelector<HTMLElement>('input:not([type=radio]):not([readonly]), textarea')?.focus()
}

/** Errors that are shown at fields, so that ActionError does not repeat them. */
const shownInFields = new WeakSet<ApiError>()

export function isShownInFields(error: unknown): boolean {
  return error instanceof ApiError && shownInFields.has(error)
}

/** Returns whether every error belongs to a field of the form. `fieldOf` names the field of a part such as `tags[0]`. */
export function showFieldErrors(
  form: FormInstance,
  error: unknown,
  fieldOf: (name: string) => string = (name) => name,
): boolean {
  if (!(error instanceof ApiError) || error.code !== 'invalid') return false
  const known = Object.entries(error.fields).filter(
    ([name]) => form.getFieldInstance(fieldOf(name)) !== undefined,
  )
  const messages = new Map<string, string[]>()
  for (const [name, message] of known) {
    const field = fieldOf(name)
    messages.set(field, [
      ...(messages.get(field) ?? []),
      field === name ? asSentence(message) : `${name} ${message}`,
    ])
  }
  form.setFields([...messages].map(([name, errors]) => ({ name, errors })))
  const isComplete = known.length > 0 && known.length === Object.keys(error.fields).length
  if (isComplete) shownInFields.add(error)
  return isComplete
}
