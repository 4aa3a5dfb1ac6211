// Puts what the service said about single fields beside those fields; the form keeps what was typed.
import type { FormInstance } from 'antd'
import { ApiError } from '../api/client.ts'

/** A dialog that opens puts the cursor where typing begins. */
export function focusFirstField(formId: string): void {
  const form = document.getElementById(formId)
  form?.querySelector<HTMLElement>('input:not([type=radio]):not([readonly]), textarea')?.focus()
}

/** Said beside their fields already: the step need not say them again. */
const besideFields = new WeakSet<ApiError>()

export function isShownInFields(error: unknown): boolean {
  return error instanceof ApiError && besideFields.has(error)
}

/** Whether every problem found its field. */
export function showFieldErrors(form: FormInstance, error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code !== 'invalid') return false
  const known = Object.entries(error.fields).filter(([name]) => form.getFieldInstance(name) !== undefined)
  form.setFields(known.map(([name, message]) => ({ name, errors: [message] })))
  const isWhole = known.length > 0 && known.length === Object.keys(error.fields).length
  if (isWhole) besideFields.add(error)
  return isWhole
}
