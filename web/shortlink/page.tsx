// Short links: the list, searched, sorted and paged on the server.
import { PlusOutlined } from '@ant-design/icons'
import { Button, Card, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { type LinkQuery, type LinkRow, linkRoutes } from '../../contract/console/shortlink.ts'
import { useAsk, useMe } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Copyable } from '../parts/copy.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { daysOf } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { Ago, count, Outcome } from '../parts/figures.tsx'
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
const types = ['direct', 'permanent', 'page'] as const
const sorts = ['created', 'clicks', 'title'] as const

export function ShortlinkPage(): ReactNode {
  const words = useText(shortlinkText)
  const me = useMe()
  const [shown, show] = useUrlState(defaults)
  const [creating, setCreating] = useState(false)
  const type = types.find((known) => known === shown.type)
  const filter: Omit<LinkQuery, 'page' | 'size'> = {
    ...daysOf(shown.range, shown.from, shown.to, Date.now()),
    sort: sorts.find((known) => known === shown.sort) ?? 'created',
    order: shown.order === 'asc' ? 'asc' : 'desc',
    ...(shown.q === '' ? {} : { q: shown.q }),
    ...(type ? { redirect_type: type } : {}),
  }
  const links = useAsk(linkRoutes.list, { ...filter, page: Number(shown.page), size: Number(shown.size) })
  const orderOf = (column: string) =>
    shown.sort === column ? (shown.order === 'asc' ? ('ascend' as const) : ('descend' as const)) : null
  const canChange = me.data?.read_only === false
  const create = canChange && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setCreating(true)}>
      {words.create}
    </Button>
  )
  return (
    <Page title={words.title} lead={words.lead} actions={create}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <Input.Search
          key={shown.q}
          allowClear
          style={{ width: 280, maxWidth: '100%' }}
          placeholder={words.search}
          aria-label={words.search}
          defaultValue={shown.q}
          onSearch={(q) => show({ q: q.trim(), page: '1' })}
        />
        <DateRange withAll {...shown} onChange={(range) => show({ ...range, page: '1' })} />
        <Select
          aria-label={words.type}
          style={{ minWidth: 150 }}
          value={shown.type}
          onChange={(value) => show({ type: value, page: '1' })}
          options={[
            { value: '', label: words.allTypes },
            ...types.map((value) => ({ value, label: words[value] })),
          ]}
        />
        <ExportLink route={linkRoutes.csv} sent={filter} />
      </div>
      <Card size="small">
        <List<LinkRow, NonNullable<typeof links.data>>
          asked={links}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.title}
          empty={{ text: words.empty, action: create }}
          onClear={shown.q !== '' || type || shown.range !== 'all' ? () => show(defaults) : undefined}
          onOpen={({ id }) => show({ open: String(id) })}
          onSort={(sort, order) => show({ sort, order, page: '1' })}
          columns={[
            {
              title: words.name,
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
                    show({ open: String(id) })
                  }}
                >
                  {title}
                </Button>
              ),
            },
            {
              title: words.address,
              render: (_value, { a_url, title }) => (
                <span className="copy">
                  <Copyable text={a_url} what={words.addressWord} shown={a_url.replace(/^https?:\/\//, '')} />
                  <QrButton url={a_url} name={title} />
                </span>
              ),
            },
            {
              title: words.target,
              render: (_value, { target_url }) => (
                <span className="clip muted" style={{ maxWidth: 280 }} title={target_url}>
                  {target_url}
                </span>
              ),
            },
            {
              title: words.clicks,
              key: 'clicks',
              align: 'end',
              sorter: true,
              sortOrder: orderOf('clicks'),
              render: (_value, link) => (
                <div
                  className="row"
                  style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}
                  title={words.botLine(count(link.bot_clicks), count(link.preview_clicks))}
                >
                  <span style={{ width: 80 }}>
                    <Sparkline values={link.daily} what={words.clicksOf(link.title)} />
                  </span>
                  <span className="num">{count(link.clicks)}</span>
                </div>
              ),
            },
            {
              title: words.created,
              key: 'created',
              sorter: true,
              sortOrder: orderOf('created'),
              render: (_value, { created_at }) => <Ago at={created_at} />,
            },
            {
              title: words.state,
              render: (_value, { redirect_type }) => (
                <Outcome tone="success">
                  {words.live} · {words[`${redirect_type}Short`]}
                </Outcome>
              ),
            },
          ]}
          footer={({ page, size, total }) => (
            <Pager
              page={page}
              size={size}
              total={total}
              onChange={(next, length) => show({ page: String(next), size: String(length) })}
            />
          )}
        />
      </Card>
      <CreateLink
        open={creating}
        onClose={() => setCreating(false)}
        onMade={(id) => show({ open: String(id) })}
      />
      <LinkDrawer id={shown.open} canChange={canChange} onClose={() => show({ open: '' })} />
    </Page>
  )
}
