// The navigation as a drawer, on phones.
import { Drawer } from 'antd'
import type { ReactNode } from 'react'
import { Navigation } from './navigation.tsx'

interface MenuDrawerProps {
  readonly open: boolean
  readonly operator: boolean
  readonly onClose: () => void
}

export function MenuDrawer({ open, operator, onClose }: MenuDrawerProps): ReactNode {
  return (
    <Drawer
      open={open}
      placement="left"
      size={264}
      title="Tollgate"
      onClose={onClose}
      styles={{ body: { padding: '8px 0' } }}
    >
      <Navigation operator={operator} folded={false} onChosen={onClose} />
    </Drawer>
  )
}
