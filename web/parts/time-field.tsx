// A moment as text in the form that every page shows (`2026-01-02 03:04`, UTC+8), with the browser's picker behind a button.
import { CalendarOutlined } from '@ant-design/icons'
import { Button, Input } from 'antd'
import { type ReactNode, useRef } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

interface TimeFieldProps {
  readonly id?: string
  /** As typed; see `readMoment`. */
  readonly value?: string
  readonly onChange?: (value: string) => void
  /** The name of the field, if no label belongs to it. */
  readonly label?: string
  readonly wrong?: boolean
}

export function TimeField({ id, value = '', onChange, label, wrong = false }: TimeFieldProps): ReactNode {
  const t = useText(partsText)
  const picker = useRef<HTMLInputElement>(null)
  return (
    <span className="time-field">
      <Input
        {...(id !== undefined && { id })}
        {...(label !== undefined && { 'aria-label': label })}
        className="mono"
        placeholder="YYYY-MM-DD HH:MM"
        maxLength={19}
        autoComplete="off"
        value={value}
        status={wrong ? 'error' : ''}
        onChange={(event) => onChange?.(event.target.value)}
        suffix={
          <Button
            size="small"
            type="text"
            icon={<CalendarOutlined />}
            aria-label={t.chooseTime}
            onClick={() => picker.current?.showPicker()}
          />
        }
      />
      <input
        ref={picker}
        type="datetime-local"
        tabIndex={-1}
        aria-hidden="true"
        value={value.trim().slice(0, 16).replace(' ', 'T')}
        onChange={(event) => onChange?.(event.target.value.slice(0, 16).replace('T', ' '))}
      />
    </span>
  )
}
