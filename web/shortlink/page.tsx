// The list of short links. The server searches, sorts and pages it.
import { PlusOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Button, Card, Checkbox, Tag } from 'antd'
import { type ReactNode, useState } from 'react'
import { type LinkQuery, linkRoutes, maxBulkLinks } from '../../contract/console/shortlink.ts'
import type { LinkRow } from '../../contract/console/responses/shortlink.ts'
import { linkStates, redirectTypes } from '../../contract/shortlink.ts'
import { useApiQuery, useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Copyable } from '../parts/copy.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { BreakableUrl, RelativeTime, formatCount } from '../parts/format.tsx'
import { SearchFilter, SelectFilter } from '../parts/filters.tsx'
import { lazyDialog } from '../parts/lazy-dialog.tsx'
import { List, Pager } from '../parts/list.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import { Page } from '../parts/page.tsx'
import { Sparkline } from '../parts/spark.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { LinkStateLabel } from './link-state.tsx'
import { loadQr, QrButton } from './qr-button.tsx'
import { shortlinkText } from './text.ts'

const defaults = {
  q: '',
  type: '',
  tag: '',
  state: '',
  range: 'all',
  from: '',
  to: '',
  sort: 'created',
  order: 'desc',
  page: '1',
  size: '20',
  open: '',
}
const sorts = ['created', 'clicks', 'title'] as const

const BulkBar = lazyDialog(async () => (await import('./bulk.tsx')).BulkBar, {
  isOpen: ({ selected }) => selected.size > 0,
  close: ({ onClear }) => onClear(),
})
const CreateLink = lazyDialog(async () => (await import('./create.tsx')).CreateLink, {
  isOpen: ({ open }) => open,
  close: ({ onClose }) => onClose(),
})
const LinkDrawer = lazyDialog(async () => (await import('./link-drawer.tsx')).LinkDrawer, {
  isOpen: ({ id }) => id !== '',
  close: ({ onClose }) => onClose(),
})

/** Before the click that needs them. */
function preloadDialogs(): void {
  for (const dialog of [BulkBar, CreateLink, LinkDrawer]) dialog.preload()
  loadQr().catch(() => undefined)
}

export function ShortlinkPage(): ReactNode {
  const t = useText(shortlinkText)
  const me = useMe()
  const [params, setParams] = useUrlState(defaults)
  const [creating, setCreating] = useState(false)
  const type = redirectTypes.find((value) => value === params.type)
  const state = linkStates.find((value) => value === params.state)
  const [selected, setSelected] = useState<ReadonlyMap<number, string>>(new Map())
  const tags = useApiQuery(linkRoutes.tags, {})
  const filter: Omit<LinkQuery, 'page' | 'size'> = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    sort: sorts.find((value) => value === params.sort) ?? 'created',
    order: params.order === 'asc' ? 'asc' : 'desc',
    ...(params.q === '' ? {} : { q: params.q }),
    ...(type ? { redirect_type: type } : {}),
    ...(params.tag === '' ? {} : { tag: params.tag }),
    ...(state ? { state } : {}),
  }
  const links = useApiQuery(linkRoutes.list, {
    ...filter,
    page: Number(params.page),
    size: Number(params.size),
  })
  const known = tags.data?.items ?? []
  const rows = links.data?.items ?? []
  const select = (some: readonly LinkRow[], isSelected: boolean) => {
    const next = new Map(selected)
    for (const { id, title } of some) {
      if (!isSelected) next.delete(id)
      else if (next.size < maxBulkLinks) next.set(id, title)
    }
    setSelected(next)
  }
  const orderOf = (column: string) =>
    params.sort === column ? (params.order === 'asc' ? ('ascend' as const) : ('descend' as const)) : null
  const canChange = me.data?.read_only === false
  const create = canChange && (
    <Button
      type="primary"
      icon={<PlusOutlined />}
      onPointerEnter={CreateLink.preload}
      onFocus={CreateLink.preload}
      onClick={() => setCreating(true)}
    >
      {t.create}
    </Button>
  )
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <span className="row">
          <Link to="/shortlink/domains">{t.ownDomains}</Link>
          <Link to="/shortlink/imports">{t.imports}</Link>
          {create}
        </span>
      }
    >
      <div className="filters" style={{ marginBottom: 0 }}>
        <SearchFilter
          label={t.search}
          value={params.q}
          width={280}
          onSearch={(q) => setParams({ q, page: '1' })}
        />
        <DateRange withAll {...params} onChange={(range) => setParams({ ...range, page: '1' })} />
        <SelectFilter
          label={t.type}
          allLabel={t.allTypes}
          value={params.type}
          values={redirectTypes}
          nameOf={(value) => t[value]}
          onChange={(value) => setParams({ type: value, page: '1' })}
        />
        <SelectFilter
          label={t.status}
          allLabel={t.allStates}
          value={params.state}
          values={linkStates}
          nameOf={(value) => t[value]}
          onChange={(value) => setParams({ state: value, page: '1' })}
        />
        <SelectFilter
          label={t.tag}
          allLabel={t.allTags}
          value={params.tag}
          values={params.tag === '' ? known : [...new Set([params.tag, ...known])]}
          nameOf={(value) => value}
          onChange={(value) => setParams({ tag: value, page: '1' })}
        />
        {params.tag !== '' && (
          <Link to="/shortlink/analytics" search={{ tag: params.tag }}>
            {t.tagAnalytics}
          </Link>
        )}
        <ExportLink route={linkRoutes.csv} filter={filter} />
      </div>
      <BulkBar selected={selected} canChange={canChange} onClear={() => setSelected(new Map())} />
      <Card size="small" onPointerEnter={preloadDialogs} onFocus={preloadDialogs}>
        {rows.length > 0 && (
          <Checkbox
            checked={rows.every(({ id }) => selected.has(id))}
            indeterminate={
              rows.some(({ id }) => selected.has(id)) && !rows.every(({ id }) => selected.has(id))
            }
            onChange={({ target }) => select(rows, target.checked)}
          >
            {t.selectAll}
          </Checkbox>
        )}
        <List<LinkRow, NonNullable<typeof links.data>>
          query={links}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.title}
          empty={{ text: t.empty, action: create }}
          onClear={
            params.q !== '' || type || state || params.tag !== '' || params.range !== 'all'
              ? () => setParams(defaults)
              : undefined
          }
          onOpen={({ id }) => setParams({ open: String(id) })}
          onSort={(sort, order) => setParams({ sort, order, page: '1' })}
          columns={[
            {
              title: '',
              card: 'title',
              render: (_value, row) => (
                <span onClick={(event) => event.stopPropagation()}>
                  <Checkbox
                    aria-label={t.selectOne(row.title)}
                    checked={selected.has(row.id)}
                    onChange={({ target }) => select([row], target.checked)}
                  />
                </span>
              ),
            },
            {
              title: t.name,
              card: 'title',
              key: 'title',
              sorter: true,
              sortOrder: orderOf('title'),
              render: (_value, { id, title, tags: own }) => (
                <div>
                  <OpenLink search={{ open: String(id) }} className="cell-text">
                    {title}
                  </OpenLink>
                  {own.map((tag) => (
                    <Tag key={tag} className="clip-tag">
                      {tag}
                    </Tag>
                  ))}
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
              sortOrder: orderOf('clicks'),
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
              sortOrder: orderOf('created'),
              render: (_value, { created_at }) => <RelativeTime at={created_at} />,
            },
            {
              title: t.status,
              card: 'side',
              render: (_value, link) => <LinkStateLabel link={link} />,
            },
          ]}
          footer={({ page, size, total }) => (
            <Pager
              page={page}
              size={size}
              total={total}
              onChange={(next, length) => setParams({ page: String(next), size: String(length) })}
            />
          )}
        />
      </Card>
      <CreateLink
        open={creating}
        onClose={() => setCreating(false)}
        onCreated={(id) => setParams({ open: String(id) })}
      />
      <LinkDrawer id={params.open} canChange={canChange} onClose={() => setParams({ open: '' })} />
    </Page>
  )
}
