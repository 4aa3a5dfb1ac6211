// Links to the page of an account, and the way back to the list as it was left.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Without `tab`, the overview. */
export function accountPath(id: number | string, tab = ''): string {
  return `/operator/accounts/${id}${tab === '' ? '' : `/${tab}`}`
}

export function AccountLink({ id, children }: { id: number; children: ReactNode }): ReactNode {
  return (
    <Link to={accountPath(id)} className="row-link">
      {children}
    </Link>
  )
}

/** For lists that know only the name: leads to the list of accounts with that name. Every operator may read it. */
export function AccountByName({ name }: { name: string }): ReactNode {
  return (
    <Link to="/operator/accounts" search={{ q: name } as never} className="row-link">
      {name}
    </Link>
  )
}

let lastSearch: Readonly<Record<string, string>> = {}

/** The filters with which the list was last shown in this tab. */
export function listSearch(): Readonly<Record<string, string>> {
  return lastSearch
}

export function rememberListSearch(search: Readonly<Record<string, string>>): void {
  lastSearch = search
}
