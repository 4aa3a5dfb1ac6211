// The link of a list row: opens the details on this page, or in a new tab like any link.
import { Link } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'

interface OpenLinkProps {
  /** Fields of the URL that open the details; the filters stay. */
  readonly search: Readonly<Record<string, string>>
  readonly className?: string
  readonly label?: string
  readonly children: ReactNode
}

export function OpenLink({ search, className = '', label, children }: OpenLinkProps): ReactNode {
  return (
    <Link
      to="."
      search={((before: Readonly<Record<string, string>>) => ({ ...before, ...search })) as never}
      className={`row-link ${className}`}
      {...(label === undefined ? {} : { 'aria-label': label, title: label })}
    >
      {children}
    </Link>
  )
}

/** A click anywhere in a row opens it; with Ctrl, ⌘ or the middle button in a new tab. Controls within the row keep their clicks. */
export function rowEvents(onOpen: () => void) {
  const isOnControl = ({ target }: MouseEvent) =>
    target instanceof Element && target.closest('a, button, input, label') !== null
  const openTab = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    const link = currentTarget.querySelector<HTMLAnchorElement>('a.row-link')
    if (link) window.open(link.href, '_blank', 'noopener')
    else onOpen()
  }
  return {
    style: { cursor: 'pointer' },
    onClick: (event: MouseEvent<HTMLElement>) => {
      if (isOnControl(event)) return
      if (event.ctrlKey || event.metaKey) openTab(event)
      else onOpen()
    },
    onAuxClick: (event: MouseEvent<HTMLElement>) => {
      if (event.button === 1 && !isOnControl(event)) openTab(event)
    },
  }
}
