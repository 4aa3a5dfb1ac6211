// The list of ledger entries with links to their requests: of the own account, or of an account that an operator looks at.
import { Link } from '@tanstack/react-router'
import { Tag, Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { creditRoutes, type LedgerFilter, redeemNote } from '../../contract/console/credits.ts'
import type { LedgerEntry } from '../../contract/console/responses/credits.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { ExactTime, Amount, formatCount } from '../parts/format.tsx'
import { cursorQuery, CursorPager, List } from '../parts/list.tsx'
import { creditsText } from './text.ts'

interface LedgerProps {
  readonly filter: LedgerFilter
  readonly before: string
  readonly onBefore: (before: string) => void
  readonly onClear: (() => void) | undefined
  /** The page with the requests of the account; undefined for the own account. */
  readonly requestsPage?: string
}

export function Ledger({ filter, before, onBefore, onClear, requestsPage }: LedgerProps): ReactNode {
  const t = useText(creditsText)
  const pick = usePick()
  const ledger = useApiQuery(creditRoutes.ledger, {
    ...filter,
    ...cursorQuery(before),
  })
  return (
    <List
      query={ledger}
      items={({ items }) => items}
      rowKey={({ id }) => id}
      label={t.ledger}
      empty={{ text: requestsPage === undefined ? t.empty : t.emptyOf }}
      onClear={onClear}
      columns={[
        { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
        { title: t.type, card: 'plain', render: (_value, { api_type }) => pick(apiTypeNames[api_type]) },
        { title: t.kind, card: 'plain', render: (_value, { kind }) => <Tag>{t[kind]}</Tag> },
        {
          title: t.amount,
          card: 'side',
          align: 'end',
          render: (_value, { amount }) => <Amount value={amount} />,
        },
        {
          title: t.after,
          align: 'end',
          render: (_value, { balance_after }) => <span className="num">{formatCount(balance_after)}</span>,
        },
        {
          title: t.request,
          card: 'plain',
          render: (_value, { operation }) =>
            operation && (
              <span className="row">
                <OperationLink operation={operation} requestsPage={requestsPage} />
                {operation.state === 'held' && (
                  <Tooltip title={t.heldText}>
                    <Tag>{t.held}</Tag>
                  </Tooltip>
                )}
              </span>
            ),
        },
        {
          title: t.note,
          card: 'plain',
          render: (_value, { note }) =>
            note && (
              <div style={{ maxWidth: 280, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
                {note.startsWith(redeemNote) ? t.fromCode(note.slice(redeemNote.length)) : note}
              </div>
            ),
        },
      ]}
      footer={({ next }) => <CursorPager before={before} next={next} onChange={onBefore} />}
    />
  )
}

interface OperationLinkProps {
  readonly operation: NonNullable<LedgerEntry['operation']>
  readonly requestsPage: string | undefined
}

/** The call that caused the entry. The domain watch charges without a call: its entries lead to the watch list. */
function OperationLink({ operation, requestsPage }: OperationLinkProps): ReactNode {
  const { action, request_id } = operation
  if (request_id.startsWith('watch-')) {
    if (requestsPage !== undefined) return <span className="mono">{action}</span>
    return (
      <Link to="/domain-check" search={{ tab: 'watch' }} className="mono">
        {action}
      </Link>
    )
  }
  return (
    <Link to={requestsPage ?? '/requests'} search={{ open: request_id }} className="mono">
      {action}
    </Link>
  )
}
