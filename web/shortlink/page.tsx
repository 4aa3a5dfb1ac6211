// The list of short links. The server searches, sorts and pages it.
import { PlusOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Button, Card } from 'antd'
import { type ReactNode, useState } from 'react'
import { type LinkQuery, linkRoutes } from '../../contract/console/shortlink.ts'
import type { LinkRow } from '../../contract/console/responses/shortlink.ts'
import { redirectTypes } from '../../contract/shortlink.ts'
import { useApiQuery, useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Copyable } from '../parts/copy.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { RelativeTime, formatCount, StatusLabel } from '../parts/format.tsx'
import { SearchFilter, SelectFilter } from '../parts/filters.tsx'
import { List, Pager } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { Sparkline } from '../parts/spark.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { CreateLink } from './create.tsx'
import { LinkDrawer } from './link-drawer.tsx'
import { QrButton } from './qr.tsx'
import { shortlinkText } from './text.ts'

const defaults = {
  q: '',
  type: '',
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

export function ShortlinkPage(): ReactNode {
  const t = useText(shortlinkText)
  const me = useMe()
  const [params, setParams] = useUrlState(defaults)
  const [creating, setCreating] = useState(false)
  const type = redirectTypes.find((value) => value === params.type)
  const filter: Omit<LinkQuery, 'page' | 'size'> = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    sort: sorts.find((value) => value === params.sort) ?? 'created',
    order: params.order === 'asc' ? 'asc' : 'desc',
    ...(params.q === '' ? {} : { q: params.q }),
    ...(type ? { redirect_type: type } : {}),
  }
  const links = useApiQuery(linkRoutes.list, {
    ...filter,
    page: Number(params.page),
    size: Number(params.size),
  })
  const orderOf = (column: string) =>
    params.sort === column ? (params.order === 'asc' ? ('ascend' as const) : ('descend' as const)) : null
  const canChange = me.data?.read_only === false
  const create = canChange && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setCreating(true)}>
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
        <ExportLink route={linkRoutes.csv} filter={filter} />
      </div>
      <Card size="small">
        <List<LinkRow, NonNullable<typeof links.data>>
          query={links}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.title}
          empty={{ text: t.empty, action: create }}
          onClear={params.q !== '' || type || params.range !== 'all' ? () => setParams(defaults) : undefined}
          onOpen={({ id }) => setParams({ open: String(id) })}
          onSort={(sort, order) => setParams({ sort, order, page: '1' })}
          columns={[
            {
              title: t.name,
              key: 'title',
              sorter: true,
              sortOrder: orderOf('title'),
              render: (_value, { id, title }) => (
                <Button
                  type="link"
                  size="small"
                  className="clip"
                  style={{ paddingInline: 0, maxWidth: 200 }}
                  onClick={(event) => {
                    event.stopPropagation()
                    setParams({ open: String(id) })
                  }}
                >
                  {title}
                </Button>
              ),
            },
            {
              title: t.shortUrl,
              render: (_value, { a_url, title }) => (
                <span className="copy">
                  <Copyable text={a_url} label={t.shortUrl} shown={a_url.replace(/^https?:\/\//, '')} />
                  <QrButton url={a_url} name={title} />
                </span>
              ),
            },
            {
              title: t.target,
              render: (_value, { target_url }) => (
                <span className="clip muted" style={{ maxWidth: 280 }} title={target_url}>
                  {target_url}
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
                  <span style={{ width: 80 }}>
                    <Sparkline values={link.daily} label={t.clicksOf(link.title)} />
                  </span>
                  <span className="num">{formatCount(link.clicks)}</span>
                </div>
              ),
            },
            {
              title: t.created,
              key: 'created',
              sorter: true,
              sortOrder: orderOf('created'),
              render: (_value, { created_at }) => <RelativeTime at={created_at} />,
            },
            {
              title: t.status,
              render: (_value, { redirect_type }) => (
                <StatusLabel tone="success">
                  {t.active} · {t[`${redirect_type}Short`]}
                </StatusLabel>
              ),
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
