// The rows of a list on phones: one card per row with a title line and a line of details, no sideways scrolling.
import { Select, type TableColumnType } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

export interface ListColumn<Item> extends TableColumnType<Item> {
  /** On a phone the `title` columns, else the first column, are the title of the card. `side`: beside the title. `plain`: without its label. `hide`: only in the details of the row. */
  readonly card?: 'title' | 'side' | 'plain' | 'hide'
}

interface RowCardsProps<Item> {
  readonly rows: readonly Item[]
  readonly rowKey: (item: Item) => string | number
  readonly columns: readonly ListColumn<Item>[]
  readonly label: string
  readonly rowEvents?: ((item: Item) => object) | undefined
  readonly onSort?: ((column: string, order: 'asc' | 'desc') => void) | undefined
}

export function RowCards<Item extends object>(props: RowCardsProps<Item>): ReactNode {
  const { rows, rowKey, columns, label, rowEvents, onSort } = props
  const isSide = ({ card }: ListColumn<Item>) => card === 'side'
  const marked = columns.filter(({ card }) => card === 'title')
  const titles = marked.length > 0 ? marked : columns.filter((column) => !isSide(column)).slice(0, 1)
  const others = columns.filter((column) => !titles.includes(column) && !isSide(column))
  return (
    <div className="stack">
      {onSort && <SortChoice columns={columns} onSort={onSort} />}
      <ul className="cards" aria-label={label}>
        {rows.map((item, index) => {
          const contentOf = (column: ListColumn<Item>) => cellContent(column, item, index)
          return (
            <li key={rowKey(item)} {...(rowEvents ? { className: 'opens', ...rowEvents(item) } : {})}>
              <div className="card-title">
                <div className="row">
                  {titles.map((column, position) => (
                    <div key={position}>{contentOf(column)}</div>
                  ))}
                </div>
                {columns.filter(isSide).map((column, position) => (
                  <div key={position} className="card-side">
                    {contentOf(column)}
                  </div>
                ))}
              </div>
              <div className="card-line">
                {others.map((column, position) => {
                  const content = contentOf(column)
                  const isHidden = column.title === '' || (column.card === 'hide' && rowEvents !== undefined)
                  if (isHidden || isEmptyContent(content)) return null
                  return (
                    <div key={position}>
                      {column.card !== 'plain' && <span className="muted">{column.title as ReactNode}</span>}{' '}
                      {content}
                    </div>
                  )
                })}
              </div>
              {/* The column without a title contains the buttons of the row. */}
              {others
                .filter(({ title }) => title === '')
                .map((column, position) => {
                  const content = contentOf(column)
                  return isEmptyContent(content) ? null : (
                    <div key={position} className="card-actions">
                      {content}
                    </div>
                  )
                })}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function isEmptyContent(content: ReactNode): boolean {
  return content === null || content === undefined || content === false || content === ''
}

function cellContent<Item extends object>(column: ListColumn<Item>, item: Item, index: number): ReactNode {
  const value =
    typeof column.dataIndex === 'string'
      ? (item as Readonly<Record<string, unknown>>)[column.dataIndex]
      : undefined
  return (column.render ? column.render(value, item, index) : value) as ReactNode
}

interface SortChoiceProps<Item> {
  readonly columns: readonly ListColumn<Item>[]
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
