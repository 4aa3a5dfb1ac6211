// Which account an operator looks at in this tab; nobody's but one's own otherwise.
import { viewAsParameter } from '../../contract/console/route.ts'

const storageKey = 'tollgate.view-as'
let viewed: string | undefined

export function viewedAccount(): string | undefined {
  return viewed
}

/** `?view_as=12` opens the view; it lasts as long as the tab. */
export function readViewAs(): void {
  const given = new URLSearchParams(window.location.search).get(viewAsParameter)
  if (given !== null) sessionStorage.setItem(storageKey, given)
  viewed = sessionStorage.getItem(storageKey) ?? undefined
}

export function leaveViewAs(): void {
  sessionStorage.removeItem(storageKey)
  window.location.assign('/console/operator/accounts')
}
