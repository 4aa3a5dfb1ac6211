// A page with title, description and actions.
import { type ReactNode, useEffect } from 'react'

/** The title of a drawer or dialog: what it shows, and the name of the object as soon as it is known. */
export function objectTitle(kind: string, name: string | undefined): string {
  return name === undefined || name === '' ? kind : `${kind} · ${name}`
}

interface PageProps {
  /** A link to the list that the page belongs to. */
  readonly back?: ReactNode
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Page({ back, title, lead, actions, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Tollgate`
  }, [title])
  return (
    <>
      {back !== undefined && <div className="page-back">{back}</div>}
      <div className="page-head">
        <div className="page-title">
          <h1>{title}</h1>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      <div className="stack">{children}</div>
    </>
  )
}
