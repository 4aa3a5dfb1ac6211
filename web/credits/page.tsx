// The credits page: balances, their history, the ledger and redeem codes.
import { GiftOutlined } from '@ant-design/icons'
import { Button, Card, Progress, Select } from 'antd'
import { type ReactNode, useMemo, useState } from 'react'
import {
  creditRoutes,
  type LedgerFilter,
  type LedgerKind,
  ledgerKinds,
} from '../../contract/console/credits.ts'
import { type ApiType, apiTypeNames, apiTypes, isApiType } from '../../contract/credits.ts'
import { useApiQuery, useMe } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { Chart } from '../parts/chart.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { formatCount } from '../parts/format.tsx'
import { LoadError } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { Ledger } from './ledger.tsx'
import { Redeem } from './redeem.tsx'
import { creditsText } from './text.ts'

const defaults = { range: '30d', from: '', to: '', type: '', kind: '', before: '', redeem: '' }

export function CreditsPage(): ReactNode {
  const t = useText(creditsText)
  const pick = usePick()
  const me = useMe()
  const [shown, show] = useUrlState(defaults)
  const days = resolveDayRange(shown.range, shown.from, shown.to, Date.now())
  const history = useApiQuery(creditRoutes.history, days)
  const type: ApiType | undefined = isApiType(shown.type) ? shown.type : undefined
  const kind: LedgerKind | undefined = ledgerKinds.find((known) => known === shown.kind)
  const filter: LedgerFilter = { ...days, ...(type ? { api_type: type } : {}), ...(kind ? { kind } : {}) }

  // One type at a time, because the balances differ too much for one axis.
  const [chosen, setChosen] = useState<ApiType>('short_link')
  const drawn = type ?? chosen
  const figures = useMemo(
    () => ({
      labels: history.data?.days.map(({ day }) => day) ?? [],
      series: [
        {
          name: pick(apiTypeNames[drawn]),
          values: history.data?.days.map(({ remaining }) => remaining[drawn]) ?? [],
        },
      ],
    }),
    [history.data, pick, drawn],
  )

  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        me.data?.read_only === false && (
          <Button type="primary" icon={<GiftOutlined />} onClick={() => show({ redeem: '1' })}>
            {t.redeem}
          </Button>
        )
      }
    >
      <div className="grid-4">
        {(me.data?.balances ?? []).map(({ api_type, remaining, total }) => (
          <Card key={api_type} size="small">
            <div className="muted">{pick(apiTypeNames[api_type])}</div>
            <div className="row" style={{ alignItems: 'baseline' }}>
              <span className="figure">{formatCount(remaining)}</span>
              <span className="muted">{t.of(formatCount(total))}</span>
            </div>
            <Progress
              percent={total === 0 ? 0 : (remaining / total) * 100}
              showInfo={false}
              status="normal"
              size="small"
              aria-label={`${pick(apiTypeNames[api_type])}: ${formatCount(remaining)} ${t.of(formatCount(total))}`}
            />
          </Card>
        ))}
      </div>
      <div className="filters" style={{ marginBottom: 0 }}>
        <DateRange {...shown} onChange={(range) => show({ ...range, before: '' })} />
        <Select
          aria-label={t.type}
          style={{ minWidth: 140 }}
          value={shown.type}
          onChange={(value) => show({ type: value, before: '' })}
          options={[
            { value: '', label: t.allTypes },
            ...apiTypes.map((value) => ({ value, label: pick(apiTypeNames[value]) })),
          ]}
        />
        <Select
          aria-label={t.kind}
          style={{ minWidth: 120 }}
          value={shown.kind}
          onChange={(value) => show({ kind: value, before: '' })}
          options={[
            { value: '', label: t.allKinds },
            ...ledgerKinds.map((value) => ({ value, label: t[value] })),
          ]}
        />
        <ExportLink route={creditRoutes.ledgerCsv} filter={filter} />
      </div>
      {history.isError ? (
        <LoadError error={history.error} onRetry={() => void history.refetch()} />
      ) : (
        <Chart
          title={t.history}
          loading={history.isPending}
          file={`balance-${drawn}`}
          extra={
            type === undefined && (
              <Select<ApiType>
                size="small"
                aria-label={`${t.history}: ${t.type}`}
                popupMatchSelectWidth={false}
                value={drawn}
                onChange={setChosen}
                options={apiTypes.map((value) => ({ value, label: pick(apiTypeNames[value]) }))}
              />
            )
          }
          {...figures}
        />
      )}
      <Card size="small" title={<h2>{t.ledger}</h2>}>
        <Ledger
          filter={filter}
          before={shown.before}
          onBefore={(before) => show({ before })}
          onClear={type || kind || shown.range !== defaults.range ? () => show({ ...defaults }) : undefined}
        />
      </Card>
      <Redeem open={shown.redeem === '1'} onClose={() => show({ redeem: '' })} />
    </Page>
  )
}
