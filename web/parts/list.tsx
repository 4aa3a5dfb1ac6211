// Lists with loading, empty and error states, and two kinds of paging.
import { Button, Empty, Pagination, Skeleton, Table } from 'antd'
import { cloneElement, isValidElement, type ReactNode, useEffect, useRef } from 'react'
import type { ApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { formatCount } from './format.tsx'
import { LoadError } from './loaded.tsx'
import { useIsNarrow } from './narrow.ts'
import { rowEvents } from './open-link.tsx'
import { type ListColumn, RowCards } from './row-cards.tsx'
import { partsText } from './text.ts'

export interface EmptyState {
  readonly text: ReactNode
  readonly action?: ReactNode
}

interface ListProps<Item, Result> {
  readonly query: ApiQuery<Result>
  readonly items: (result: Result) => readonly Item[]
  readonly rowKey: (item: Item) => string | number
  readonly columns: readonly ListColumn<Item>[]
  readonly label: string
  readonly empty: EmptyState
  /** Clears the filters; set only while some are active. */
  readonly onClear?: (() => void) | undefined
  readonly onOpen?: (item: Item) => void
  readonly onSort?: (column: string, order: 'asc' | 'desc') => void
  readonly footer?: (result: Result) => ReactNode
}

export function List<Item extends object, Result>(props: ListProps<Item, Result>): ReactNode {
  const { query, items, rowKey, columns, label, empty, onClear, onOpen, onSort, footer } = props
  const t = useText(partsText)
  const isNarrow = useIsNarrow()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // A table that scrolls sideways must be focusable for keyboard users; antd does not do this.
    const region = box.current?.querySelector<HTMLElement>('.ant-table-content')
    if (!region) return
    const scrolls = region.scrollWidth > region.clientWidth
    region.tabIndex = scrolls ? 0 : -1
    region.ariaLabel = scrolls ? label : null
    region.role = scrolls ? 'region' : null
  })
  if (query.data === undefined) {
    return query.isError ? (
      <LoadError error={query.error} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton active title={false} paragraph={{ rows: 8, width: '100%' }} aria-label={t.loading} />
    )
  }
  const rows = items(query.data)
  // A page number beyond the last page, for example in an old link.
  const isPastEnd =
    rows.length === 0 &&
    (query.data as { total?: unknown }).total !== undefined &&
    (query.data as { total: number }).total > 0
  if (isPastEnd) {
    return (
      <div className="stack">
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.pastEnd} />
        {footer?.(query.data)}
      </div>
    )
  }
  if (rows.length === 0 && !query.isError) {
    return (
      <Empty
        image={Empty.PRESENTED_IMAGE_SIMPLE}
        style={{ padding: '32px 0' }}
        description={<span className="prose">{onClear ? t.emptyFiltered : empty.text}</span>}
      >
        {onClear ? <Button onClick={onClear}>{t.clearFilters}</Button> : empty.action}
      </Empty>
    )
  }
  return (
    <div className="stack" ref={box}>
      {query.isError && <LoadError error={query.error} isStale onRetry={() => void query.refetch()} />}
      {isNarrow ? (
        <RowCards<Item>
          rows={rows}
          rowKey={rowKey}
          columns={columns}
          label={label}
          rowEvents={onOpen && ((item) => rowEvents(() => onOpen(item)))}
          onSort={onSort}
        />
      ) : (
        <Table<Item>
          size="middle"
          dataSource={rows}
          rowKey={rowKey}
          // The last column, often with the buttons of the row, stays visible when the table scrolls sideways.
          columns={columns.map(({ card: _card, ...column }, index) => ({
            ...column,
            ...(column.title === '' && { title: <span className="visually-hidden">{t.actions}</span> }),
            ...(index === columns.length - 1 && index > 0 && { fixed: 'end' as const }),
          }))}
          pagination={false}
          // Cells use the free width, wrap when there is none, and the table scrolls only when that is not enough.
          scroll={{ x: true }}
          showSorterTooltip={false}
          loading={query.isPlaceholderData && query.isFetching}
          {...(onOpen ? { onRow: (item: Item) => rowEvents(() => onOpen(item)) } : {})}
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
      {footer?.(query.data)}
    </div>
  )
}

/** How a list is sorted, as its URL says. */
export interface ListOrder {
  readonly sort: string
  readonly order: string
}

/** The arrow of a column that the list can be sorted by. */
export function sortOrderOf({ sort, order }: ListOrder, column: string): 'ascend' | 'descend' | null {
  if (sort !== column) return null
  return order === 'asc' ? 'ascend' : 'descend'
}

interface PageOfList {
  readonly page: number
  readonly size: number
  readonly total: number
}

interface PagerProps extends PageOfList {
  readonly onChange: (page: number, size: number) => void
}

export function Pager({ page, size, total, onChange }: PagerProps): ReactNode {
  const t = useText(partsText)
  return (
    <div className="row-between">
      <span className="muted">{t.total(formatCount(total))}</span>
      <Pagination
        current={page}
        pageSize={size}
        total={total}
        showSizeChanger
        pageSizeOptions={[20, 50, 100]}
        responsive
        itemRender={(_page, type, original) => {
          if (type !== 'prev' && type !== 'next') return original
          // The buttons are icons.
          const name = type === 'prev' ? t.previousPage : t.nextPage
          return isValidElement<{ 'aria-label'?: string }>(original)
            ? cloneElement(original, { 'aria-label': name })
            : original
        }}
        onChange={onChange}
      />
    </div>
  )
}

/** The footer of a list whose page and page size are in the URL. */
export function pageFooter(
  setParams: (change: { page: string; size: string }) => void,
): (result: PageOfList) => ReactNode {
  return ({ page, size, total }) => (
    <Pager
      page={page}
      size={size}
      total={total}
      onChange={(next, length) => setParams({ page: String(next), size: String(length) })}
    />
  )
}

interface CursorPagerProps {
  readonly before: string
  readonly next: number | null
  readonly onChange: (before: string) => void
}

/** The query of a page that starts before an entry; empty for the newest page. */
export function cursorQuery(before: string): { readonly before?: number } {
  return before === '' ? {} : { before: Number(before) }
}

/** Paging of append-only lists: older entries, or back to the newest. */
export function CursorPager({ before, next, onChange }: CursorPagerProps): ReactNode {
  const t = useText(partsText)
  if (before === '' && next === null) return null
  return (
    <div className="row" style={{ justifyContent: 'flex-end' }}>
      <Button disabled={before === ''} onClick={() => onChange('')}>
        {t.newest}
      </Button>
      <Button disabled={next === null} onClick={() => onChange(String(next))}>
        {t.older}
      </Button>
    </div>
  )
}

/** The footer of a list whose position is in the URL. */
export function cursorFooter(
  before: string,
  setParams: (change: { before: string }) => void,
): (result: { readonly next: number | null }) => ReactNode {
  return ({ next }) => (
    <CursorPager before={before} next={next} onChange={(position) => setParams({ before: position })} />
  )
}
