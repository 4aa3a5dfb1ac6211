// The list of short links. The server searches, sorts and pages it.
import { PlusOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Button, Card, Checkbox } from 'antd'
import { type ReactNode, useState } from 'react'
import type { LinkRow } from '../../contract/console/responses/shortlink.ts'
import { linkRoutes, maxBulkLinks } from '../../contract/console/shortlink.ts'
import { useApiQuery, useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { lazyDialog } from '../parts/lazy-dialog.tsx'
import { List, pageFooter } from '../parts/list.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { useLinkColumns } from './link-columns.tsx'
import { filterDefaults, isFiltered, LinkFilters, readFilter } from './link-filters.tsx'
import { loadQr } from './qr-button.tsx'
import { shortlinkText } from './text.ts'

const defaults = { ...filterDefaults, page: '1', size: '20', open: '' }

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
  const [selected, setSelected] = useState<ReadonlyMap<number, string>>(new Map())
  const filter = readFilter(params)
  const links = useApiQuery(linkRoutes.list, {
    ...filter,
    page: Number(params.page),
    size: Number(params.size),
  })
  const rows = links.data?.items ?? []
  const select = (some: readonly LinkRow[], isSelected: boolean) => {
    const next = new Map(selected)
    for (const { id, title } of some) {
      if (!isSelected) next.delete(id)
      else if (next.size < maxBulkLinks) next.set(id, title)
    }
    setSelected(next)
  }
  const isNarrow = useIsNarrow()
  const isAllSelected = rows.length > 0 && rows.every(({ id }) => selected.has(id))
  const selectAll = (
    <Checkbox
      checked={isAllSelected}
      indeterminate={!isAllSelected && rows.some(({ id }) => selected.has(id))}
      onChange={({ target }) => select(rows, target.checked)}
      aria-label={t.selectAll}
    >
      {isNarrow && t.selectAll}
    </Checkbox>
  )
  const columns = useLinkColumns({ sorted: params, selected, onSelect: select, selectAll })
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
      <LinkFilters params={params} setParams={setParams} filter={filter} />
      <BulkBar selected={selected} canChange={canChange} onClear={() => setSelected(new Map())} />
      <Card size="small" onPointerEnter={preloadDialogs} onFocus={preloadDialogs}>
        {/* A table has it in its heading. */}
        {isNarrow && rows.length > 0 && <div className="above-cards">{selectAll}</div>}
        <List<LinkRow, NonNullable<typeof links.data>>
          query={links}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.title}
          empty={{ text: t.empty, action: create }}
          onClear={isFiltered(filter, params) ? () => setParams(defaults) : undefined}
          onOpen={({ id }) => setParams({ open: String(id) })}
          onSort={(sort, order) => setParams({ sort, order, page: '1' })}
          columns={columns}
          footer={pageFooter(setParams)}
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
