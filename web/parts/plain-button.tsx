// A button or a link that looks like one, for the sign-in pages and error pages: antd's button would add to the first load.
import type { ReactNode } from 'react'

interface PlainButtonProps {
  readonly primary?: boolean
  /** As wide and high as the fields of the sign-in form. */
  readonly block?: boolean
  readonly submit?: boolean
  /** Waits for a response: shown as busy, and clicks are ignored. */
  readonly busy?: boolean
  readonly title?: string
  readonly onClick?: () => void
  readonly children: ReactNode
}

export function PlainButton(props: PlainButtonProps): ReactNode {
  const { primary = false, block = false, submit = false, busy = false, title, onClick, children } = props
  return (
    <button
      type={submit ? 'submit' : 'button'}
      className={['plain-button', primary && 'primary', block && 'block'].filter(Boolean).join(' ')}
      aria-busy={busy}
      title={title}
      onClick={busy ? undefined : onClick}
    >
      {children}
    </button>
  )
}
