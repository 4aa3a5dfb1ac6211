// The batches of an account: their progress, which updates by itself, cancelling and the result file.
import { App, Button, Card, Progress } from 'antd'
import { type ReactNode, useState } from 'react'
import { smsBatchRoutes } from '../../../contract/console/sms-batches.ts'
import type { Batch } from '../../../contract/console/responses/sms-batches.ts'
import { formatTime } from '../../../contract/time.ts'
import { fileUrl } from '../../api/client.ts'
import { useApiMutation, useApiQuery, useMe } from '../../api/hooks.ts'
import { useText } from '../../frame/i18n.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { formatCount, RelativeTime, StatusLabel, type Tone } from '../../parts/format.tsx'
import { cursorFooter, cursorQuery, List } from '../../parts/list.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { batchText } from './text.ts'

const tones: Readonly<Record<Batch['state'], Tone>> = {
  waiting: 'pending',
  sending: 'warning',
  finished: 'success',
  cancelled: 'muted',
}

const refreshMs = 3_000

export function Batches(): ReactNode {
  const t = useText(batchText)
  const me = useMe()
  const { message } = App.useApp()
  const [params, setParams] = useUrlState({ before: '' })
  const batches = useApiQuery(smsBatchRoutes.batches, cursorQuery(params.before), { refetchMs: refreshMs })
  const cancel = useApiMutation(smsBatchRoutes.cancelBatch)
  const [cancelling, setCancelling] = useState<Batch>()
  const canChange = me.data?.read_only === false
  return (
    <Card size="small" title={<h2>{t.batches}</h2>}>
      <List<Batch, NonNullable<typeof batches.data>>
        query={batches}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={t.batches}
        empty={{ text: t.empty }}
        columns={[
          {
            title: t.batchId,
            render: (_value, { batch_id, template_code, sign_name }) => (
              <div>
                <Copyable text={batch_id} label={t.batchId} />
                <div className="muted small">
                  {template_code} · 【{sign_name}】
                </div>
              </div>
            ),
          },
          { title: t.state, card: 'side', render: (_value, batch) => <State batch={batch} /> },
          { title: t.progress, render: (_value, batch) => <Done batch={batch} /> },
          {
            title: t.credits,
            align: 'end',
            render: (_value, { credits_used }) => <span className="num">{formatCount(credits_used)}</span>,
          },
          { title: t.created, render: (_value, { created_at }) => <RelativeTime at={created_at} /> },
          {
            title: '',
            align: 'end',
            render: (_value, batch) => (
              <span className="row" style={{ justifyContent: 'flex-end' }}>
                <Button size="small" href={fileUrl(smsBatchRoutes.batchCsv, {}, { id: batch.id })}>
                  {t.result}
                </Button>
                {canChange && (batch.state === 'waiting' || batch.state === 'sending') && (
                  <Button size="small" danger onClick={() => setCancelling(batch)}>
                    {t.cancel}
                  </Button>
                )}
              </span>
            ),
          },
        ]}
        footer={cursorFooter(params.before, setParams)}
      />
      <Confirm
        open={cancelling !== undefined}
        danger
        title={t.cancelTitle}
        consequence={t.cancelText}
        ok={t.cancel}
        onClose={() => setCancelling(undefined)}
        onConfirm={async () => {
          if (!cancelling) return
          const { cancelled } = await cancel.mutateAsync({ body: {}, params: { id: cancelling.id } })
          message.success(t.cancelledDone(formatCount(cancelled)))
        }}
      />
    </Card>
  )
}

function State({ batch }: { batch: Batch }): ReactNode {
  const t = useText(batchText)
  const name = batch.state === 'sending' ? t.sendingState : t[batch.state]
  return (
    <div>
      <StatusLabel tone={tones[batch.state]}>{name}</StatusLabel>
      {batch.state === 'waiting' && batch.send_at !== null && (
        <div className="muted small">{t.scheduled(formatTime(batch.send_at).slice(0, 16))}</div>
      )}
    </div>
  )
}

function Done({ batch }: { batch: Batch }): ReactNode {
  const t = useText(batchText)
  const done = batch.total - batch.pending
  return (
    <div style={{ minWidth: 180 }}>
      <Progress
        percent={batch.total === 0 ? 0 : Math.floor((done / batch.total) * 100)}
        size="small"
        status={batch.state === 'sending' ? 'active' : 'normal'}
        aria-label={t.progress}
      />
      <div className="muted small">
        {`${formatCount(done)}/${formatCount(batch.total)} · ${t.counts(
          formatCount(batch.succeeded),
          formatCount(batch.failed),
          formatCount(batch.cancelled),
        )}`}
      </div>
    </div>
  )
}
