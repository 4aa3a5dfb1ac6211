// The dialog that creates a batch of redeem codes. The codes are shown once.
import { DownloadOutlined } from '@ant-design/icons'
import { Alert, Button, Form, Input, InputNumber, Modal, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { maxRedeemBatchSize } from '../../contract/console/limits.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { CreatedRedeemBatch } from '../../contract/console/responses/operator.ts'
import { type ApiType, apiTypeNames, apiTypes, maxGrant } from '../../contract/credits.ts'
import { useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { CopyButton } from '../parts/copy.tsx'
import { formatCsv } from '../../contract/csv.ts'
import { download } from '../parts/download.ts'
import { LeaveGuard } from '../parts/leave-guard.tsx'
import { formatCount } from '../parts/format.tsx'
import { partsText } from '../parts/text.ts'
import { OperatorForm } from './operator-form.tsx'
import { operatorText } from './text.ts'

interface BatchFields {
  readonly api_type: ApiType
  readonly amount: number
  readonly count: number
  readonly expires_on?: string
}

export function NewBatchModal({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  const [form] = Form.useForm<BatchFields & { note: string }>()
  const create = useApiMutation(operatorRoutes.makeRedeemBatch)
  const [created, setCreated] = useState<CreatedRedeemBatch>()
  const required = { required: true, message: common.required }
  return (
    <>
      <OperatorForm<BatchFields>
        open={open}
        title={t.newBatch}
        ok={t.newBatch}
        form={form}
        initial={{ api_type: 'sms', count: 10 }}
        onClose={onClose}
        onSubmit={async ({ expires_on, ...fields }) => {
          setCreated(await create.mutateAsync({ body: { ...fields, ...(expires_on ? { expires_on } : {}) } }))
        }}
      >
        <Form.Item name="api_type" label={t.type}>
          <Select options={apiTypes.map((value) => ({ value, label: pick(apiTypeNames[value]) }))} />
        </Form.Item>
        <div className="grid-half">
          <Form.Item name="amount" label={t.amountEach} rules={[required]}>
            <InputNumber min={1} max={maxGrant} precision={0} style={{ width: '100%' }} />
          </Form.Item>
          <Form.Item name="count" label={t.codeCount} rules={[required]}>
            <InputNumber min={1} max={maxRedeemBatchSize} precision={0} style={{ width: '100%' }} />
          </Form.Item>
        </div>
        <Form.Item name="expires_on" label={t.setExpires} extra={t.emptyNoEnd}>
          <Input type="date" />
        </Form.Item>
      </OperatorForm>
      <Modal
        open={created !== undefined}
        title={t.codes}
        closable={false}
        footer={<Button onClick={() => setCreated(undefined)}>{t.savedThem}</Button>}
      >
        {created && <CreatedCodes created={created} />}
      </Modal>
      {/* Not inside: a dialog keeps its content when it closes. */}
      {created && <LeaveGuard title={t.codesUnsaved} text={t.codesLeave} />}
    </>
  )
}

function CreatedCodes({ created }: { created: CreatedRedeemBatch }): ReactNode {
  const t = useText(operatorText)
  const { batch, codes } = created
  const rows = [
    ['code', 'api_type', 'amount', 'expires_on'],
    ...codes.map((code) => [code, batch.api_type, String(batch.amount), batch.expires_on ?? '']),
  ]
  return (
    <div className="stack">
      <Alert
        type="warning"
        showIcon
        title={t.codesCreated(formatCount(codes.length))}
        description={t.onceText}
      />
      <pre className="code" tabIndex={0} aria-label={t.codes} style={{ maxHeight: 240 }} data-testid="codes">
        {codes.join('\n')}
      </pre>
      <div className="row">
        <Button
          type="primary"
          icon={<DownloadOutlined />}
          onClick={() => download(`codes-${batch.id}.csv`, new Blob([formatCsv(rows)], { type: 'text/csv' }))}
        >
          {t.downloadCodes}
        </Button>
        <CopyButton text={codes.join('\n')} label={t.codes}>
          {t.copyAll}
        </CopyButton>
      </div>
    </div>
  )
}
