// Lists: loading, empty and error states that say what to do; paging that lives in the address.
import { Button, Empty, Pagination, Skeleton, Table, type TableColumnsType } from 'antd'
import { type ReactNode, useEffect, useRef } from 'react'
import type { Asked } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { count } from './figures.tsx'
import { LoadError } from './loaded.tsx'
import { useNarrow } from './narrow.ts'
import { RowCards } from './row-cards.tsx'
import { partsText } from './text.ts'

export interface EmptyState {
  /** What this list is, and the first thing to do. */
  readonly text: ReactNode
  readonly action?: ReactNode
}

interface ListProps<Item, Got> {
  readonly asked: Asked<Got>
  readonly items: (got: Got) => readonly Item[]
  readonly rowKey: (item: Item) => string | number
  readonly columns: TableColumnsType<Item>
  readonly label: string
  readonly empty: EmptyState
  /** Given when filters are on: how to take them off. */
  readonly onClear?: (() => void) | undefined
  readonly onOpen?: (item: Item) => void
  readonly onSort?: (column: string, order: 'asc' | 'desc') => void
  readonly footer?: (got: Got) => ReactNode
}

export function List<Item extends object, Got>(props: ListProps<Item, Got>): ReactNode {
  const { asked, items, rowKey, columns, label, empty, onClear, onOpen, onSort, footer } = props
  const words = useText(partsText)
  const isNarrow = useNarrow()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // A table that scrolls sideways must be within reach of the keyboard; antd leaves that to us.
    const region = box.current?.querySelector<HTMLElement>('.ant-table-content')
    if (!region) return
    const scrolls = region.scrollWidth > region.clientWidth
    region.tabIndex = scrolls ? 0 : -1
    region.ariaLabel = scrolls ? label : null
    region.role = scrolls ? 'region' : null
  })
  if (asked.data === undefined) {
    return asked.isError ? (
      <LoadError error={asked.error} onRetry={() => void asked.refetch()} />
    ) : (
      <Skeleton active title={false} paragraph={{ rows: 8, width: '100%' }} aria-label={words.loadingMore} />
    )
  }
  const rows = items(asked.data)
  if (rows.length === 0 && !asked.isError) {
    return (
      <Empty
        image={Empty.PRESENTED_IMAGE_SIMPLE}
        style={{ padding: '32px 0' }}
        description={<span className="prose">{onClear ? words.emptyFiltered : empty.text}</span>}
      >
        {onClear ? <Button onClick={onClear}>{words.clearFilters}</Button> : empty.action}
      </Empty>
    )
  }
  return (
    <div className="stack" ref={box}>
      {asked.isError && <LoadError error={asked.error} isStale onRetry={() => void asked.refetch()} />}
      {isNarrow ? (
        <RowCards
          rows={rows}
          rowKey={rowKey}
          columns={columns}
          label={label}
          onOpen={onOpen}
          onSort={onSort}
        />
      ) : (
        <Table<Item>
          size="middle"
          dataSource={rows}
          rowKey={rowKey}
          columns={columns}
          pagination={false}
          scroll={{ x: 'max-content' }}
          showSorterTooltip={false}
          loading={asked.isPlaceholderData && asked.isFetching}
          {...(onOpen
            ? { onRow: (item: Item) => ({ onClick: () => onOpen(item), style: { cursor: 'pointer' } }) }
            : {})}
          {...(onSort
            ? {
                onChange: (_paging, _filters, sorter) => {
                  const chosen = Array.isArray(sorter) ? sorter[0] : sorter
                  if (chosen?.columnKey !== undefined) {
                    onSort(String(chosen.columnKey), chosen.order === 'ascend' ? 'asc' : 'desc')
                  }
                },
              }
            : {})}
        />
      )}
      {footer?.(asked.data)}
    </div>
  )
}

interface PagerProps {
  readonly page: number
  readonly size: number
  readonly total: number
  readonly onChange: (page: number, size: number) => void
}

export function Pager({ page, size, total, onChange }: PagerProps): ReactNode {
  const words = useText(partsText)
  return (
    <div className="row-between">
      <span className="muted">{words.total(count(total))}</span>
      <Pagination
        current={page}
        pageSize={size}
        total={total}
        showSizeChanger
        pageSizeOptions={[20, 50, 100]}
        responsive
        onChange={onChange}
      />
    </div>
  )
}

interface SlicerProps {
  readonly before: string
  readonly next: number | null
  readonly onChange: (before: string) => void
}

/** For lists that only grow: older, or back to the newest. */
export function Slicer({ before, next, onChange }: SlicerProps): ReactNode {
  const words = useText(partsText)
  if (before === '' && next === null) return null
  return (
    <div className="row" style={{ justifyContent: 'flex-end' }}>
      <Button disabled={before === ''} onClick={() => onChange('')}>
        {words.newest}
      </Button>
      <Button disabled={next === null} onClick={() => onChange(String(next))}>
        {words.older}
      </Button>
    </div>
  )
}
