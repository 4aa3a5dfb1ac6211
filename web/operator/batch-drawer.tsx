// The codes of one batch: who took which, and revoking what nobody took.
import { App, Button, Descriptions, Drawer, Segmented } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorRoutes, type RedeemBatch, type RedeemCodeRow } from '../../contract/console/operator.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useAsk, useTell } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ExportLink } from '../parts/export-link.tsx'
import { Ago, count, Outcome, type Tone } from '../parts/figures.tsx'
import { List, Pager } from '../parts/list.tsx'
import { partsText } from '../parts/text.ts'
import { operatorText } from './text.ts'

export function BatchDrawer({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const words = useText(operatorText)
  return (
    <Drawer open={id !== ''} size={720} title={words.batch(Number(id))} onClose={onClose} destroyOnHidden>
      {id !== '' && <OneBatch key={id} id={id} />}
    </Drawer>
  )
}

const tones: Readonly<Record<RedeemCodeRow['state'], Tone>> = {
  unused: 'pending',
  redeemed: 'success',
  revoked: 'muted',
}

function OneBatch({ id }: { id: string }): ReactNode {
  const words = useText(operatorText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [state, setState] = useState<RedeemCodeRow['state'] | 'all'>('all')
  const [paging, setPaging] = useState({ page: 1, size: 20 })
  const [revoking, setRevoking] = useState<RedeemCodeRow | 'batch'>()
  const codes = useAsk(
    operatorRoutes.redeemBatch,
    { ...paging, ...(state === 'all' ? {} : { state }) },
    { parts: { id } },
  )
  const revokeBatch = useTell(operatorRoutes.revokeRedeemBatch)
  const revokeCode = useTell(operatorRoutes.revokeRedeemCode)
  const batch = codes.data?.batch
  const unused = batch ? batch.count - batch.redeemed - batch.revoked : 0
  return (
    <div className="stack">
      {batch && <BatchFacts batch={batch} />}
      <div className="row-between">
        <div className="scroll-x">
          <Segmented<RedeemCodeRow['state'] | 'all'>
            aria-label={words.state}
            value={state}
            onChange={(value) => {
              setState(value)
              setPaging({ ...paging, page: 1 })
            }}
            options={[
              { value: 'all', label: words.allStates },
              { value: 'unused', label: words.unused },
              { value: 'redeemed', label: words.redeemed },
              { value: 'revoked', label: words.revoked },
            ]}
          />
        </div>
        <span className="row">
          <ExportLink route={operatorRoutes.redeemBatchCsv} sent={{}} parts={{ id }} />
          <Button danger disabled={unused === 0} onClick={() => setRevoking('batch')}>
            {words.revokeBatch}
          </Button>
        </span>
      </div>
      <List<RedeemCodeRow, NonNullable<typeof codes.data>>
        asked={codes}
        items={({ items }) => items}
        rowKey={(code) => code.id}
        label={words.codes}
        empty={{ text: common.emptyFiltered }}
        columns={[
          { title: words.hint, render: (_value, { hint }) => <span className="mono nowrap">{hint}</span> },
          {
            title: words.state,
            render: (_value, code) => <Outcome tone={tones[code.state]}>{words[code.state]}</Outcome>,
          },
          { title: words.redeemedBy, render: (_value, { redeemed_by }) => redeemed_by ?? '' },
          {
            title: words.at,
            render: (_value, { redeemed_at, revoked_at }) => <Ago at={redeemed_at ?? revoked_at} />,
          },
          {
            title: '',
            align: 'end',
            render: (_value, code) =>
              code.state === 'unused' && (
                <Button size="small" danger onClick={() => setRevoking(code)}>
                  {words.revoke}
                </Button>
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
        title={revoking === 'batch' ? words.revokeBatch : words.revokeCode}
        consequence={
          revoking === 'batch'
            ? words.revokeBatchText(count(unused))
            : words.revokeCodeText(revoking?.hint ?? '')
        }
        ok={words.revoke}
        onClose={() => setRevoking(undefined)}
        onConfirm={async ({ note }) => {
          if (revoking === 'batch') {
            const { revoked } = await revokeBatch.mutateAsync({ sent: { note }, parts: { id } })
            message.success(words.revokedDone(revoked))
          } else if (revoking) {
            await revokeCode.mutateAsync({ sent: { note }, parts: { id: revoking.id } })
            message.success(words.revokedDone(1))
          }
        }}
      />
    </div>
  )
}

function BatchFacts({ batch }: { batch: RedeemBatch }): ReactNode {
  const words = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  return (
    <Descriptions
      size="small"
      column={{ xs: 1, sm: 2 }}
      items={[
        { key: 'type', label: words.type, children: pick(apiTypeNames[batch.api_type]) },
        { key: 'amount', label: words.amountEach, children: count(batch.amount) },
        { key: 'count', label: words.howMany, children: count(batch.count) },
        { key: 'redeemed', label: words.redeemed, children: count(batch.redeemed) },
        { key: 'expires', label: words.expires, children: batch.expires_on ?? words.noEnd },
        { key: 'note', label: common.note, children: batch.note },
      ]}
    />
  )
}
