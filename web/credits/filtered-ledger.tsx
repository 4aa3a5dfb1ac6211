// The filters of the ledger, kept in the URL, and the ledger they choose: of the own account, or of an account that an operator looks at.
import { Card } from 'antd'
import type { ReactNode } from 'react'
import { creditRoutes, type LedgerFilter } from '../../contract/console/credits.ts'
import { apiTypeNames, apiTypes, isApiType } from '../../contract/credits.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { DateRange } from '../parts/date-range.tsx'
import { type RangeName, resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { SelectFilter } from '../parts/filters.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { Ledger } from './ledger.tsx'
import { creditsText } from './text.ts'
import { ledgerKinds } from '../../contract/console/values.ts'

interface LedgerState {
  /** The days that are shown at first. */
  readonly range: RangeName
  /** Chooses the account; the own one without it. */
  readonly accountQuery?: Readonly<Record<string, string>>
}

export function useLedgerFilter({ range, accountQuery }: LedgerState) {
  const defaults = { range, from: '', to: '', type: '', kind: '', before: '' }
  const [params, setParams] = useUrlState(defaults)
  const days = resolveDayRange(params.range, params.from, params.to, Date.now())
  const type = isApiType(params.type) ? params.type : undefined
  const kind = ledgerKinds.find((value) => value === params.kind)
  const filter: LedgerFilter = {
    ...days,
    ...(type ? { api_type: type } : {}),
    ...(kind ? { kind } : {}),
    ...accountQuery,
  }
  const isFiltered = params.range !== range || type !== undefined || kind !== undefined
  const clear = isFiltered ? () => setParams(defaults) : undefined
  return { params, setParams, days, type, filter, clear }
}

type LedgerFilterState = ReturnType<typeof useLedgerFilter>

interface LedgerFiltersProps {
  readonly state: LedgerFilterState
  /** Adds the choice of all time. */
  readonly withAll?: boolean
}

export function LedgerFilters({ state, withAll = false }: LedgerFiltersProps): ReactNode {
  const { params, setParams, filter } = state
  const t = useText(creditsText)
  const pick = usePick()
  return (
    <div className="filters" style={{ marginBottom: 0 }}>
      <DateRange withAll={withAll} {...params} onChange={(range) => setParams({ ...range, before: '' })} />
      <SelectFilter
        label={t.type}
        allLabel={t.allTypes}
        value={params.type}
        values={apiTypes}
        nameOf={(value) => pick(apiTypeNames[value])}
        onChange={(type) => setParams({ type, before: '' })}
      />
      <SelectFilter
        label={t.kind}
        allLabel={t.allKinds}
        value={params.kind}
        values={ledgerKinds}
        nameOf={(value) => t[value]}
        onChange={(kind) => setParams({ kind, before: '' })}
      />
      <ExportLink route={creditRoutes.ledgerCsv} filter={filter} />
    </div>
  )
}

interface FilteredLedgerProps {
  readonly state: LedgerFilterState
  readonly title?: string
  /** The page with the requests of the account; undefined for the own account. */
  readonly requestsPage?: string
}

export function FilteredLedger({ state, title, requestsPage }: FilteredLedgerProps): ReactNode {
  const { params, setParams, filter, clear } = state
  return (
    <Card size="small" title={title === undefined ? undefined : <h2>{title}</h2>}>
      <Ledger
        filter={filter}
        before={params.before}
        onBefore={(before) => setParams({ before })}
        onClear={clear}
        requestsPage={requestsPage}
      />
    </Card>
  )
}
