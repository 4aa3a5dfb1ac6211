// Asks before a page is left on which something is shown that cannot be shown again.
import { useBlocker } from '@tanstack/react-router'
import { Modal } from 'antd'
import type { ReactNode } from 'react'

interface LeaveGuardProps {
  readonly title: string
  readonly text: string
  readonly stay: string
  readonly leave: string
}

export function LeaveGuard({ title, text, stay, leave }: LeaveGuardProps): ReactNode {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    withResolver: true,
  })
  return (
    <Modal
      open={leaving.status === 'blocked'}
      title={title}
      okText={stay}
      cancelText={leave}
      closable={false}
      keyboard={false}
      onOk={() => leaving.reset?.()}
      onCancel={() => leaving.proceed?.()}
    >
      {text}
    </Modal>
  )
}
