// What the signed-in operator may do. The service decides; the console hides what it would reject.
import type { ReactNode } from 'react'
import {
  type Access,
  type AreaName,
  mayAccess,
  type OperatorRole,
  viewers,
} from '../../contract/console/roles.ts'
import { useMe } from '../api/hooks.ts'

/** Undefined for account holders, and while an operator views an account. */
export function useOperatorRole(): OperatorRole | undefined {
  const me = useMe().data
  if (!me || me.read_only || me.user.role !== 'operator') return undefined
  return me.user.operator_role ?? undefined
}

export function useMay(area: AreaName, access: Access = 'write'): boolean {
  const role = useOperatorRole()
  return role !== undefined && mayAccess(role, area, access)
}

/** Whether the operator may see an account as its holder does. */
export function useMayView(): boolean {
  const role = useOperatorRole()
  return role !== undefined && viewers.includes(role)
}

/** Shows its content only to operators who may change the area. */
export function May({ change, children }: { change: AreaName; children: ReactNode }): ReactNode {
  return useMay(change) ? children : null
}
