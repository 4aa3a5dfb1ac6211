// The state of a link with icon, word and colour.
import type { ReactNode } from 'react'
import type { LinkRow } from '../../contract/console/responses/shortlink.ts'
import type { LinkState } from '../../contract/shortlink.ts'
import { useText } from '../frame/i18n.ts'
import { StatusLabel, type Tone } from '../parts/format.tsx'
import { shortlinkText } from './text.ts'

const tones: Readonly<Record<LinkState, Tone>> = {
  active: 'success',
  paused: 'warning',
  expired: 'muted',
  exhausted: 'muted',
  banned: 'error',
}

export function LinkStateLabel({ link }: { link: Pick<LinkRow, 'state' | 'redirect_type'> }): ReactNode {
  const t = useText(shortlinkText)
  return (
    <StatusLabel tone={tones[link.state]}>
      {t[link.state]}
      {link.state === 'active' && ` · ${t[`${link.redirect_type}Short`]}`}
    </StatusLabel>
  )
}
