// The codes of one batch: who redeemed which, and revoking unused codes.
import { App, Button, Descriptions, Drawer, Segmented } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { RedeemBatch, RedeemCodeRow } from '../../contract/console/responses/operator.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useApiQuery, useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { ExportLink } from '../parts/export-link.tsx'
import { RelativeTime, formatCount, StatusLabel, type Tone } from '../parts/format.tsx'
import { List, Pager } from '../parts/list.tsx'
import { partsText } from '../parts/text.ts'
import { operatorText } from './text.ts'

export function BatchDrawer({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useText(operatorText)
  return (
    <Drawer open={id !== ''} size={720} title={t.batch(Number(id))} onClose={onClose} destroyOnHidden>
      {id !== '' && <BatchContent key={id} id={id} />}
    </Drawer>
  )
}

const tones: Readonly<Record<RedeemCodeRow['state'], Tone>> = {
  unused: 'pending',
  redeemed: 'success',
  revoked: 'muted',
}

function BatchContent({ id }: { id: string }): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [state, setState] = useState<RedeemCodeRow['state'] | 'all'>('all')
  const [paging, setPaging] = useState({ page: 1, size: 20 })
  const [revoking, setRevoking] = useState<RedeemCodeRow | 'batch'>()
  const codes = useApiQuery(
    operatorRoutes.redeemBatch,
    { ...paging, ...(state === 'all' ? {} : { state }) },
    { params: { id } },
  )
  const revokeBatch = useApiMutation(operatorRoutes.revokeRedeemBatch)
  const revokeCode = useApiMutation(operatorRoutes.revokeRedeemCode)
  const batch = codes.data?.batch
  const unused = batch ? batch.count - batch.redeemed - batch.revoked : 0
  return (
    <div className="stack">
      {batch && <BatchDetails batch={batch} />}
      <div className="row-between">
        <div className="scroll-x">
          <Segmented<RedeemCodeRow['state'] | 'all'>
            aria-label={t.state}
            value={state}
            onChange={(value) => {
              setState(value)
              setPaging({ ...paging, page: 1 })
            }}
            options={[
              { value: 'all', label: t.allStates },
              { value: 'unused', label: t.unused },
              { value: 'redeemed', label: t.redeemed },
              { value: 'revoked', label: t.revoked },
            ]}
          />
        </div>
        <span className="row">
          <ExportLink route={operatorRoutes.redeemBatchCsv} filter={{}} params={{ id }} />
          <May change="redeem_codes">
            <Button danger disabled={unused === 0} onClick={() => setRevoking('batch')}>
              {t.revokeBatch}
            </Button>
          </May>
        </span>
      </div>
      <List<RedeemCodeRow, NonNullable<typeof codes.data>>
        query={codes}
        items={({ items }) => items}
        rowKey={(code) => code.id}
        label={t.codes}
        empty={{ text: common.emptyFiltered }}
        columns={[
          { title: t.hint, render: (_value, { hint }) => <span className="mono nowrap">{hint}</span> },
          {
            title: t.state,
            card: 'side',
            render: (_value, code) => <StatusLabel tone={tones[code.state]}>{t[code.state]}</StatusLabel>,
          },
          { title: t.redeemedBy, render: (_value, { redeemed_by }) => redeemed_by ?? '' },
          {
            title: t.at,
            render: (_value, { redeemed_at, revoked_at }) => <RelativeTime at={redeemed_at ?? revoked_at} />,
          },
          {
            title: '',
            align: 'end',
            render: (_value, code) =>
              code.state === 'unused' && (
                <May change="redeem_codes">
                  <Button size="small" danger onClick={() => setRevoking(code)}>
                    {t.revoke}
                  </Button>
                </May>
              ),
          },
        ]}
        footer={({ page, size, total }) => (
          <Pager
            page={page}
            size={size}
            total={total}
            onChange={(next, length) => setPaging({ page: next, size: length })}
          />
        )}
      />
      <Confirm
        open={revoking !== undefined}
        danger
        withNote
        title={revoking === 'batch' ? t.revokeBatch : t.revokeCode}
        consequence={
          revoking === 'batch'
            ? t.revokeBatchText(formatCount(unused))
            : t.revokeCodeText(revoking?.hint ?? '')
        }
        ok={t.revoke}
        onClose={() => setRevoking(undefined)}
        onConfirm={async ({ note }) => {
          if (revoking === 'batch') {
            const { revoked } = await revokeBatch.mutateAsync({ body: { note }, params: { id } })
            message.success(t.revokedDone(revoked))
          } else if (revoking) {
            await revokeCode.mutateAsync({ body: { note }, params: { id: revoking.id } })
            message.success(t.revokedDone(1))
          }
        }}
      />
    </div>
  )
}

function BatchDetails({ batch }: { batch: RedeemBatch }): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  return (
    <Descriptions
      size="small"
      column={{ xs: 1, sm: 2 }}
      items={[
        { key: 'type', label: t.type, children: pick(apiTypeNames[batch.api_type]) },
        { key: 'amount', label: t.amountEach, children: formatCount(batch.amount) },
        { key: 'count', label: t.codeCount, children: formatCount(batch.count) },
        { key: 'redeemed', label: t.redeemed, children: formatCount(batch.redeemed) },
        { key: 'expires', label: t.expires, children: batch.expires_on ?? t.noEnd },
        { key: 'note', label: common.note, children: batch.note },
      ]}
    />
  )
}
