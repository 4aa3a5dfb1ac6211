// A form of native fields for the sign-in pages: antd's form would double what they load.
import { type HTMLInputTypeAttribute, type ReactNode, useId } from 'react'
import { ApiError } from '../api/client.ts'
import { asSentence } from '../api/sentence.ts'

interface PlainFieldProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** The problem with the value, shown below it. */
  readonly problem?: string | undefined
  readonly hint?: string | undefined
  readonly type?: HTMLInputTypeAttribute
  readonly autoComplete?: string
  readonly autoFocus?: boolean
  readonly maxLength?: number
  readonly inputMode?: 'numeric' | 'email' | 'text'
}

export function PlainField(props: PlainFieldProps): ReactNode {
  const { name, label, value, onChange, problem, hint, type = 'text', ...rest } = props
  const id = useId()
  return (
    <div className="plain-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={(problem ?? hint) ? `${id}-text` : undefined}
        onChange={(event) => onChange(event.target.value)}
        {...rest}
      />
      <span id={`${id}-text`} className={problem === undefined ? 'muted small' : 'plain-problem small'}>
        {problem ?? hint}
      </span>
    </div>
  )
}

/** The problems that the service found, by field. */
export function fieldProblems(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError) || error.code !== 'invalid') return {}
  return Object.fromEntries(Object.entries(error.fields).map(([name, text]) => [name, asSentence(text)]))
}
