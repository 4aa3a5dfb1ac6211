// Preview of a message on a phone, with filled-in values marked, its length and billed parts.
import type { ReactNode } from 'react'
import { countParts, maxLengthForParts, maxSmsLength } from '../../contract/sms-text.ts'
import { useText } from '../frame/i18n.ts'
import { messageLength, type Piece } from './message.ts'
import { smsText } from './text.ts'

export function Phone({ sign, pieces }: { sign: string; pieces: readonly Piece[] }): ReactNode {
  const t = useText(smsText)
  const length = messageLength(sign, pieces)
  const parts = countParts(length)
  return (
    <div className="stack-8" role="group" aria-label={t.preview}>
      <div className="phone">
        <p>
          【{sign}】
          {pieces.map(({ text, variable }, index) =>
            variable === undefined ? (
              <span key={index}>{text}</span>
            ) : (
              <mark key={index} title={variable}>
                {text}
              </mark>
            ),
          )}
        </p>
      </div>
      <span className={length > maxSmsLength ? 'num tone-error' : 'num muted'} style={{ textAlign: 'start' }}>
        {t.counter(length, maxLengthForParts(parts), parts)}
      </span>
    </div>
  )
}
