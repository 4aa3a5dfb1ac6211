// The field of forms that send failed deliveries again: since when.
import { Form } from 'antd'
import type { ReactNode } from 'react'
import { dayMs, parseTime } from '../../contract/time.ts'
import { useText } from '../frame/i18n.ts'
import { readMoment, showMoment } from '../parts/moment.ts'
import { TimeField } from '../parts/time-field.tsx'
import { eventsText } from './text.ts'

export interface SinceFields {
  /** As typed. */
  readonly since: string
}

export function yesterday(): SinceFields {
  return { since: showMoment(Date.now() - dayMs).slice(0, 16) }
}

/** Milliseconds since 1970. */
export function readSince({ since }: SinceFields): number {
  return parseTime(readMoment(since) ?? '') ?? Number.MAX_SAFE_INTEGER
}

export function SinceField(): ReactNode {
  const t = useText(eventsText)
  return (
    <Form.Item
      name="since"
      label={t.since}
      extra="UTC+8"
      required
      rules={[
        {
          validator: async (_rule, typed: string | undefined) => {
            if (readMoment(typed ?? '') === undefined) throw new Error(t.sinceRule)
          },
        },
      ]}
    >
      <TimeField />
    </Form.Item>
  )
}
