// The list of redeem code batches.
import { PlusOutlined } from '@ant-design/icons'
import { Button, Card } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { RedeemBatch } from '../../contract/console/responses/operator.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { RelativeTime, formatCount } from '../parts/format.tsx'
import { List, pageFooter } from '../parts/list.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { BatchDrawer } from './batch-drawer.tsx'
import { NewBatchModal } from './new-batch.tsx'
import { operatorText } from './text.ts'

const defaults = { page: '1', size: '20', open: '' }

export function CodesPage(): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  const [params, setParams] = useUrlState(defaults)
  const [creating, setCreating] = useState(false)
  const batches = useApiQuery(operatorRoutes.redeemBatches, {
    page: Number(params.page),
    size: Number(params.size),
  })
  const create = (
    <May change="redeem_codes">
      <Button type="primary" icon={<PlusOutlined />} onClick={() => setCreating(true)}>
        {t.newBatch}
      </Button>
    </May>
  )
  return (
    <Page title={t.codes} lead={t.codesLead} actions={create}>
      <Card size="small">
        <List<RedeemBatch, NonNullable<typeof batches.data>>
          query={batches}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.codes}
          empty={{ text: t.noBatches, action: create }}
          onOpen={({ id }) => setParams({ open: String(id) })}
          columns={[
            {
              title: t.batchHead,
              render: (_value, { id }) => <OpenLink search={{ open: String(id) }}>{t.batch(id)}</OpenLink>,
            },
            { title: t.type, render: (_value, { api_type }) => pick(apiTypeNames[api_type]) },
            { title: t.amountEach, align: 'end', render: (_value, { amount }) => formatCount(amount) },
            { title: t.codeCount, align: 'end', render: (_value, batch) => formatCount(batch.count) },
            { title: t.redeemed, align: 'end', render: (_value, { redeemed }) => formatCount(redeemed) },
            { title: t.revoked, align: 'end', render: (_value, { revoked }) => formatCount(revoked) },
            {
              title: t.expires,
              render: (_value, { expires_on }) => expires_on ?? <span className="muted">{t.noEnd}</span>,
            },
            {
              title: common.note,
              render: (_value, { note }) => (
                <div style={{ maxWidth: 200, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>{note}</div>
              ),
            },
            { title: t.by, dataIndex: 'created_by' },
            { title: t.created, render: (_value, { created_at }) => <RelativeTime at={created_at} /> },
          ]}
          footer={pageFooter(setParams)}
        />
      </Card>
      <BatchDrawer id={params.open} onClose={() => setParams({ open: '' })} />
      <NewBatchModal open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
