// The list of ledger entries with links to their requests: of the own account, or of an account that an operator looks at.
import { Link } from '@tanstack/react-router'
import { Tag, Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { compactedNote, creditRoutes, type LedgerFilter } from '../../contract/console/credits.ts'
import type { LedgerEntry } from '../../contract/console/responses/credits.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { ExactTime, Amount, formatCount } from '../parts/format.tsx'
import { cursorQuery, CursorPager, List } from '../parts/list.tsx'
import { causeOf } from './entry-cause.ts'
import { creditsText } from './text.ts'

interface LedgerProps {
  readonly filter: LedgerFilter
  readonly before: string
  readonly onBefore: (before: string) => void
  readonly onClear: (() => void) | undefined
  /** The page with the requests of the account; undefined for the own account. */
  readonly requestsPage: string | undefined
}

export function Ledger({ filter, before, onBefore, onClear, requestsPage }: LedgerProps): ReactNode {
  const t = useText(creditsText)
  const pick = usePick()
  const ledger = useApiQuery(creditRoutes.ledger, {
    ...filter,
    ...cursorQuery(before),
  })
  const noteText = ({ note, redeem_hint }: LedgerEntry) => {
    if (redeem_hint !== null) return t.fromCode(redeem_hint)
    return note === compactedNote ? t.compacted : note
  }
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
          render: (_value, entry) =>
            entry.note && (
              <div style={{ maxWidth: 280, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
                {noteText(entry)}
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

/** What caused the entry. An operator opens only calls of the account: the other pages are its holder's. */
function OperationLink({ operation, requestsPage }: OperationLinkProps): ReactNode {
  const pick = usePick()
  const { text, to, search, isCall } = causeOf(operation)
  const name = text ? pick(text) : <span className="mono">{operation.action}</span>
  if (requestsPage !== undefined && !isCall) return name
  return (
    <Link to={requestsPage ?? to} search={search}>
      {name}
    </Link>
  )
}
