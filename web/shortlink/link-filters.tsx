// The filters above the list of links. They are kept in the URL.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type LinkFilter, linkRoutes } from '../../contract/console/shortlink.ts'
import { linkStates, redirectTypes } from '../../contract/shortlink.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { SearchFilter, SelectFilter } from '../parts/filters.tsx'
import { shortlinkText } from './text.ts'

export const filterDefaults = {
  q: '',
  type: '',
  tag: '',
  state: '',
  range: 'all',
  from: '',
  to: '',
  sort: 'created',
  order: 'desc',
}
const sorts = ['created', 'clicks', 'title'] as const

type FilterParams = Readonly<Record<keyof typeof filterDefaults, string>>

/** Ignores values that no filter has, for example in an old link. */
export function readFilter(params: FilterParams): LinkFilter {
  const type = redirectTypes.find((value) => value === params.type)
  const state = linkStates.find((value) => value === params.state)
  return {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    sort: sorts.find((value) => value === params.sort) ?? 'created',
    order: params.order === 'asc' ? 'asc' : 'desc',
    ...(params.q === '' ? {} : { q: params.q }),
    ...(type ? { redirect_type: type } : {}),
    ...(params.tag === '' ? {} : { tag: params.tag }),
    ...(state ? { state } : {}),
  }
}

export function isFiltered({ q, redirect_type, state, tag }: LinkFilter, { range }: FilterParams): boolean {
  return [q, redirect_type, state, tag].some((value) => value !== undefined) || range !== 'all'
}

interface LinkFiltersProps {
  readonly params: FilterParams
  readonly filter: LinkFilter
  readonly setParams: (change: Partial<FilterParams> & { readonly page: string }) => void
}

export function LinkFilters({ params, filter, setParams }: LinkFiltersProps): ReactNode {
  const t = useText(shortlinkText)
  const tags = useApiQuery(linkRoutes.tags, {})
  const known = tags.data?.items ?? []
  return (
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
  )
}
