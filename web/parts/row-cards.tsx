// The rows of a list on phones: one card per row, one labelled line per column, no sideways scrolling.
import { Select, type TableColumnsType, type TableColumnType } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

interface RowCardsProps<Item> {
  readonly rows: readonly Item[]
  readonly rowKey: (item: Item) => string | number
  readonly columns: TableColumnsType<Item>
  readonly label: string
  readonly onOpen?: ((item: Item) => void) | undefined
  readonly onSort?: ((column: string, order: 'asc' | 'desc') => void) | undefined
}

export function RowCards<Item extends object>(props: RowCardsProps<Item>): ReactNode {
  const { rows, rowKey, columns, label, onOpen, onSort } = props
  const flat = columns.filter((column): column is TableColumnType<Item> => !('children' in column))
  return (
    <div className="stack">
      {onSort && <SortChoice columns={flat} onSort={onSort} />}
      <ul className="cards" aria-label={label}>
        {rows.map((item, index) => (
          <li key={rowKey(item)} {...(onOpen ? { onClick: () => onOpen(item), className: 'opens' } : {})}>
            {flat.map((column, position) => (
              <Line key={position} column={column} item={item} index={index} />
            ))}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface LineProps<Item> {
  readonly column: TableColumnType<Item>
  readonly item: Item
  readonly index: number
}

function Line<Item extends object>({ column, item, index }: LineProps<Item>): ReactNode {
  const value =
    typeof column.dataIndex === 'string'
      ? (item as Readonly<Record<string, unknown>>)[column.dataIndex]
      : undefined
  const content = (column.render ? column.render(value, item, index) : value) as ReactNode
  if (content === null || content === undefined || content === false || content === '') return null
  // The column without a title contains the buttons of the row.
  if (column.title === '') return <div className="card-actions">{content}</div>
  return (
    <div className="card-line">
      <span className="muted">{column.title as ReactNode}</span>
      <div>{content}</div>
    </div>
  )
}

interface SortChoiceProps<Item> {
  readonly columns: readonly TableColumnType<Item>[]
  readonly onSort: (column: string, order: 'asc' | 'desc') => void
}

/** Replaces the clickable column headers. */
function SortChoice<Item>({ columns, onSort }: SortChoiceProps<Item>): ReactNode {
  const t = useText(partsText)
  const sortable = columns.filter(({ sorter }) => sorter === true)
  const chosen = sortable.find(({ sortOrder }) => sortOrder)
  return (
    <Select
      aria-label={t.sort}
      value={chosen ? `${String(chosen.key)} ${chosen.sortOrder === 'ascend' ? 'asc' : 'desc'}` : null}
      onChange={(value: string) => {
        const [column, order] = value.split(' ')
        onSort(column!, order === 'asc' ? 'asc' : 'desc')
      }}
      options={sortable.flatMap(({ key, title }) =>
        (['desc', 'asc'] as const).map((order) => ({
          value: `${String(key)} ${order}`,
          label: t.sortBy(typeof title === 'string' ? title : String(key), order === 'asc'),
        })),
      )}
    />
  )
}
