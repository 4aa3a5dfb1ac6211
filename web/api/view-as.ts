// The account that an operator views in this tab, if any.
import { viewAsParameter } from '../../contract/console/route.ts'

const storageKey = 'tollgate.view-as'
let viewed: string | undefined

export function viewedAccount(): string | undefined {
  return viewed
}

/** `?view_as=12` starts the view; it lasts until the tab is closed. */
export function readViewAs(): void {
  const given = new URLSearchParams(window.location.search).get(viewAsParameter)
  if (given !== null) sessionStorage.setItem(storageKey, given)
  viewed = sessionStorage.getItem(storageKey) ?? undefined
}

/** Back to the page of the account. */
export function leaveViewAs(): void {
  sessionStorage.removeItem(storageKey)
  window.location.assign(`/console/operator/accounts/${encodeURIComponent(viewed ?? '')}`)
}
