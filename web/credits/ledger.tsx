// The ledger; every line that belongs to a call opens it.
import { Link } from '@tanstack/react-router'
import { Tag, Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { creditRoutes, type LedgerFilter, redeemNote } from '../../contract/console/credits.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useAsk } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Ago, Amount, count } from '../parts/figures.tsx'
import { List, Slicer } from '../parts/list.tsx'
import { creditsText } from './text.ts'

interface LedgerProps {
  readonly filter: LedgerFilter
  readonly before: string
  readonly onBefore: (before: string) => void
  readonly onClear: (() => void) | undefined
}

export function Ledger({ filter, before, onBefore, onClear }: LedgerProps): ReactNode {
  const words = useText(creditsText)
  const pick = usePick()
  const ledger = useAsk(creditRoutes.ledger, {
    ...filter,
    ...(before === '' ? {} : { before: Number(before) }),
  })
  return (
    <List
      asked={ledger}
      items={({ items }) => items}
      rowKey={({ id }) => id}
      label={words.ledger}
      empty={{ text: words.empty }}
      onClear={onClear}
      columns={[
        { title: words.at, render: (_value, { at }) => <Ago at={at} /> },
        { title: words.type, render: (_value, { api_type }) => pick(apiTypeNames[api_type]) },
        { title: words.kind, render: (_value, { kind }) => <Tag>{words[kind]}</Tag> },
        { title: words.amount, align: 'end', render: (_value, { amount }) => <Amount value={amount} /> },
        {
          title: words.after,
          align: 'end',
          render: (_value, { balance_after }) => <span className="num">{count(balance_after)}</span>,
        },
        {
          title: words.what,
          render: (_value, { operation }) =>
            operation && (
              <span className="row">
                <Link to="/requests" search={{ open: operation.request_id }} className="mono">
                  {operation.action}
                </Link>
                {operation.state === 'held' && (
                  <Tooltip title={words.heldText}>
                    <Tag>{words.held}</Tag>
                  </Tooltip>
                )}
              </span>
            ),
        },
        {
          title: words.note,
          render: (_value, { note }) =>
            note && (
              <div style={{ maxWidth: 280, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
                {note.startsWith(redeemNote) ? words.byCode(note.slice(redeemNote.length)) : note}
              </div>
            ),
        },
      ]}
      footer={({ next }) => <Slicer before={before} next={next} onChange={onBefore} />}
    />
  )
}
