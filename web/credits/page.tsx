// The credits page: balances, their history, the ledger and redeem codes.
import { GiftOutlined, ShoppingCartOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Button, Card, Progress, Select } from 'antd'
import { type ReactNode, useMemo, useState } from 'react'
import { creditRoutes } from '../../contract/console/credits.ts'
import { type ApiType, apiTypeNames, apiTypes } from '../../contract/credits.ts'
import { useApiQuery, useMe } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { Chart } from '../parts/chart.tsx'
import { formatCount } from '../parts/format.tsx'
import { LoadError } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { FilteredLedger, LedgerFilters, useLedgerFilter } from './filtered-ledger.tsx'
import { Redeem } from './redeem.tsx'
import { creditsText } from './text.ts'

export function CreditsPage(): ReactNode {
  const t = useText(creditsText)
  const pick = usePick()
  const me = useMe()
  // While an operator views an account, a code would be redeemed for the operator's own.
  const canChange = me.data?.read_only === false
  const [params, setParams] = useUrlState({ redeem: '' })
  const ledger = useLedgerFilter({ range: '30d' })
  const { type } = ledger
  const history = useApiQuery(creditRoutes.history, ledger.days)

  // One type at a time, because the balances differ too much for one axis.
  const [chosenType, setChosenType] = useState<ApiType>('short_link')
  const chartType = type ?? chosenType
  const figures = useMemo(
    () => ({
      labels: history.data?.days.map(({ day }) => day) ?? [],
      series: [
        {
          name: pick(apiTypeNames[chartType]),
          values: history.data?.days.map(({ remaining }) => remaining[chartType]) ?? [],
        },
      ],
    }),
    [history.data, pick, chartType],
  )

  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        canChange && (
          <>
            <Button icon={<GiftOutlined />} onClick={() => setParams({ redeem: '1' })}>
              {t.redeem}
            </Button>
            <Link to="/buy">
              <Button type="primary" icon={<ShoppingCartOutlined />} tabIndex={-1}>
                {t.buy}
              </Button>
            </Link>
          </>
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
      <LedgerFilters state={ledger} />
      {history.isError ? (
        <LoadError error={history.error} onRetry={() => void history.refetch()} />
      ) : (
        <Chart
          title={t.history}
          loading={history.isPending}
          kind="step"
          file={`balance-${chartType}`}
          extra={
            type === undefined && (
              <Select<ApiType>
                size="small"
                aria-label={`${t.history}: ${t.type}`}
                popupMatchSelectWidth={false}
                value={chartType}
                onChange={setChosenType}
                options={apiTypes.map((value) => ({ value, label: pick(apiTypeNames[value]) }))}
              />
            )
          }
          {...figures}
        />
      )}
      <FilteredLedger state={ledger} title={t.ledger} />
      <Redeem open={canChange && params.redeem === '1'} onClose={() => setParams({ redeem: '' })} />
    </Page>
  )
}
