// Asks before a page is left on which something is shown that cannot be shown again.
import { useBlocker } from '@tanstack/react-router'
import { Modal } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

interface LeaveGuardProps {
  readonly title: string
  readonly text: string
}

/** Another tab of the page removes what is shown, too. */
function placeOf({ pathname, search }: { readonly pathname: string; readonly search: unknown }): string {
  return `${pathname}?${(search as { readonly tab?: string }).tab ?? ''}`
}

export function LeaveGuard({ title, text }: LeaveGuardProps): ReactNode {
  const t = useText(partsText)
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => placeOf(current) !== placeOf(next),
    withResolver: true,
  })
  return (
    <Modal
      open={leaving.status === 'blocked'}
      title={title}
      okText={t.stay}
      cancelText={t.leave}
      closable={false}
      keyboard={false}
      onOk={() => leaving.reset?.()}
      onCancel={() => leaving.proceed?.()}
    >
      {text}
    </Modal>
  )
}
