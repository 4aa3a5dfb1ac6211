// The columns of the list of links.
import { Checkbox, Tag } from 'antd'
import type { ReactNode } from 'react'
import type { LinkRow } from '../../contract/console/responses/shortlink.ts'
import { useText } from '../frame/i18n.ts'
import { Copyable } from '../parts/copy.tsx'
import { BreakableUrl, formatCount, RelativeTime } from '../parts/format.tsx'
import { type ListOrder, sortOrderOf } from '../parts/list.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import type { ListColumn } from '../parts/row-cards.tsx'
import { Sparkline } from '../parts/spark.tsx'
import { LinkStateLabel } from './link-state.tsx'
import { QrButton } from './qr-button.tsx'
import { shortlinkText } from './text.ts'

interface LinkColumnsProps {
  readonly sorted: ListOrder
  readonly selected: ReadonlyMap<number, string>
  readonly onSelect: (rows: readonly LinkRow[], isSelected: boolean) => void
  /** The heading of the column of checkboxes. */
  readonly selectAll: ReactNode
}

export function useLinkColumns({
  sorted,
  selected,
  onSelect,
  selectAll,
}: LinkColumnsProps): readonly ListColumn<LinkRow>[] {
  const t = useText(shortlinkText)
  return [
    {
      title: selectAll,
      card: 'title',
      render: (_value, row) => (
        <span onClick={(event) => event.stopPropagation()}>
          <Checkbox
            aria-label={t.selectOne(row.title)}
            checked={selected.has(row.id)}
            onChange={({ target }) => onSelect([row], target.checked)}
          />
        </span>
      ),
    },
    {
      title: t.name,
      card: 'title',
      key: 'title',
      sorter: true,
      sortOrder: sortOrderOf(sorted, 'title'),
      render: (_value, { id, title, tags: own }) => (
        <div>
          <OpenLink search={{ open: String(id) }} className="cell-text">
            {/* The host of the target by default. */}
            {title.includes(' ') ? title : <BreakableUrl url={title} />}
          </OpenLink>
          {own.length > 0 && (
            <div className="tags">
              {own.map((tag) => (
                <Tag key={tag} className="clip-tag">
                  {tag}
                </Tag>
              ))}
            </div>
          )}
        </div>
      ),
    },
    {
      title: t.shortUrl,
      card: 'plain',
      render: (_value, { a_url, title }) => (
        <span className="copy">
          <Copyable
            text={a_url}
            label={t.shortUrl}
            shown={<BreakableUrl url={a_url.replace(/^https?:\/\//, '')} />}
          />
          <QrButton url={a_url} name={title} />
        </span>
      ),
    },
    {
      title: t.target,
      card: 'hide',
      render: (_value, { target_url }) => (
        <span className="cell-text muted" title={target_url}>
          <BreakableUrl url={target_url} />
        </span>
      ),
    },
    {
      title: t.clicks,
      key: 'clicks',
      align: 'end',
      sorter: true,
      sortOrder: sortOrderOf(sorted, 'clicks'),
      render: (_value, link) => (
        <div
          className="row"
          style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}
          title={t.botLine(formatCount(link.bot_clicks), formatCount(link.preview_clicks))}
        >
          <span className="spark-cell">
            <Sparkline values={link.daily} label={t.clicksOf(link.title)} />
          </span>
          {/* The same width in each row, so that the charts are below each other. */}
          <span className="num" style={{ minWidth: '6ch' }}>
            {formatCount(link.clicks)}
          </span>
        </div>
      ),
    },
    {
      title: t.created,
      card: 'hide',
      key: 'created',
      sorter: true,
      sortOrder: sortOrderOf(sorted, 'created'),
      render: (_value, { created_at }) => <RelativeTime at={created_at} />,
    },
    {
      title: t.status,
      card: 'side',
      render: (_value, link) => <LinkStateLabel link={link} />,
    },
  ]
}
