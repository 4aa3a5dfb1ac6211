// Redeem codes: batches, and the codes of one.
import { PlusOutlined } from '@ant-design/icons'
import { Button, Card } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorRoutes, type RedeemBatch } from '../../contract/console/operator.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useAsk } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Ago, count } from '../parts/figures.tsx'
import { List, Pager } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { BatchDrawer } from './batch-drawer.tsx'
import { NewBatchModal } from './new-batch.tsx'
import { operatorText } from './text.ts'

const defaults = { page: '1', size: '20', open: '' }

export function CodesPage(): ReactNode {
  const words = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  const [shown, show] = useUrlState(defaults)
  const [making, setMaking] = useState(false)
  const batches = useAsk(operatorRoutes.redeemBatches, { page: Number(shown.page), size: Number(shown.size) })
  const make = (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setMaking(true)}>
      {words.newBatch}
    </Button>
  )
  return (
    <Page title={words.codes} lead={words.codesLead} actions={make}>
      <Card size="small">
        <List<RedeemBatch, NonNullable<typeof batches.data>>
          asked={batches}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.codes}
          empty={{ text: words.noBatches, action: make }}
          onOpen={({ id }) => show({ open: String(id) })}
          columns={[
            {
              title: words.batchHead,
              render: (_value, { id }) => (
                <Button
                  type="link"
                  size="small"
                  style={{ paddingInline: 0 }}
                  onClick={(event) => {
                    event.stopPropagation()
                    show({ open: String(id) })
                  }}
                >
                  {words.batch(id)}
                </Button>
              ),
            },
            { title: words.type, render: (_value, { api_type }) => pick(apiTypeNames[api_type]) },
            { title: words.amountEach, align: 'end', render: (_value, { amount }) => count(amount) },
            { title: words.howMany, align: 'end', render: (_value, batch) => count(batch.count) },
            { title: words.redeemed, align: 'end', render: (_value, { redeemed }) => count(redeemed) },
            { title: words.revoked, align: 'end', render: (_value, { revoked }) => count(revoked) },
            {
              title: words.expires,
              render: (_value, { expires_on }) => expires_on ?? <span className="muted">{words.noEnd}</span>,
            },
            {
              title: common.note,
              render: (_value, { note }) => (
                <div style={{ maxWidth: 200, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>{note}</div>
              ),
            },
            { title: words.by, dataIndex: 'created_by' },
            { title: words.created, render: (_value, { created_at }) => <Ago at={created_at} /> },
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
      <BatchDrawer id={shown.open} onClose={() => show({ open: '' })} />
      <NewBatchModal open={making} onClose={() => setMaking(false)} />
    </Page>
  )
}
