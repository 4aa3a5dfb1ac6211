// Monthly statements: figures, files and a printable page.
import { DownloadOutlined, PrinterOutlined } from '@ant-design/icons'
import { Button, Card, Table, type TableColumnsType } from 'antd'
import type { ReactNode } from 'react'
import { paymentRoutes } from '../../contract/console/payments.ts'
import type { Statement } from '../../contract/console/responses/payments.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { fileUrl } from '../api/client.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { formatCount, StatusLabel } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { Page } from '../parts/page.tsx'
import { RowCards } from '../parts/row-cards.tsx'
import { paymentsText } from './text.ts'

export function StatementsPage(): ReactNode {
  const t = useText(paymentsText)
  const statements = useApiQuery(paymentRoutes.statements, {})
  const print = (
    <Button icon={<PrinterOutlined />} onClick={() => globalThis.print()}>
      {t.print}
    </Button>
  )
  return (
    <Page title={t.statements} lead={t.statementsLead} actions={print}>
      <Loaded query={statements}>
        {({ items }) => (
          <div className="stack">
            {items.map(({ month, is_final, digest, rows }) => (
              <Card
                key={month}
                size="small"
                title={
                  <h2>
                    {month}{' '}
                    <StatusLabel tone={is_final ? 'success' : 'pending'}>
                      {is_final ? t.final : t.provisional}
                    </StatusLabel>
                  </h2>
                }
                extra={
                  <span className="row">
                    <Button
                      size="small"
                      icon={<DownloadOutlined />}
                      aria-label={`CSV ${month}`}
                      href={fileUrl(paymentRoutes.statementCsv, {}, { month })}
                      download
                    >
                      CSV
                    </Button>
                    <Button
                      size="small"
                      icon={<DownloadOutlined />}
                      aria-label={`XLSX ${month}`}
                      href={fileUrl(paymentRoutes.statementXlsx, {}, { month })}
                      download
                    >
                      XLSX
                    </Button>
                  </span>
                }
              >
                <StatementRows rows={rows} label={month} />
                <div className="muted small mono" style={{ overflowWrap: 'anywhere', marginTop: 8 }}>
                  {t.digest}: {digest}
                </div>
              </Card>
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  )
}

type StatementItem = Statement['rows'][number]

function StatementRows({ rows, label }: { rows: readonly StatementItem[]; label: string }): ReactNode {
  const t = useText(paymentsText)
  const pick = usePick()
  const isNarrow = useIsNarrow()
  const amounts = [
    ['opening', t.opening],
    ['bought', t.bought],
    ['used', t.used],
    ['refunded', t.refundedCredits],
    ['adjusted', t.adjusted],
    ['closing', t.closing],
  ] as const
  const columns: TableColumnsType<StatementItem> = [
    { title: t.type, render: (_value, row) => pick(apiTypeNames[row.api_type]) },
    ...amounts.map(([name, title]) => ({
      title,
      key: name,
      align: 'end' as const,
      render: (_value: unknown, row: StatementItem) => formatCount(row[name]),
    })),
  ]
  const rowKey = (row: StatementItem) => row.api_type
  return isNarrow ? (
    <RowCards rows={rows} rowKey={rowKey} columns={columns} label={label} />
  ) : (
    <Table<StatementItem>
      size="small"
      pagination={false}
      scroll={{ x: 'max-content' }}
      rowKey={rowKey}
      dataSource={rows}
      columns={columns}
    />
  )
}
