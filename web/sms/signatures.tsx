// The signatures of an account: add, upload proofs, choose the default, delete.
import { DeleteOutlined, PlusOutlined, UploadOutlined } from '@ant-design/icons'
import { App, Button, Card, Form, Input, Select, Tag, Upload } from 'antd'
import { type ReactNode, useState } from 'react'
import { maxNoteLength } from '../../contract/console/limits.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import type { AccountSignature, Proof } from '../../contract/console/responses/sms.ts'
import { proofLimits, type SignatureType, signatureTypes } from '../../contract/sms-text.ts'
import { sms } from '../../contract/sms.ts'
import { routeUrl } from '../api/client.ts'
import { useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { Confirm, ConfirmItem } from '../parts/confirm.tsx'
import { toBase64 } from '../parts/base64.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { RelativeTime } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { ReviewState } from './review-state.tsx'
import { signaturesText } from './signatures-text.ts'
import { VendorStates } from './vendor-states.tsx'

const { minLength, maxLength } = sms.operations.send.parameters.sign_name
const maxProofKb = proofLimits.bytes / 1024

interface SignatureFields {
  readonly sign_name: string
  readonly type: SignatureType
  readonly note?: string
}

export function Signatures(): ReactNode {
  const t = useText(signaturesText)
  const me = useMe()
  const { message } = App.useApp()
  const signatures = useApiQuery(smsRoutes.signatures, {})
  const changeDefault = useApiMutation(smsRoutes.changeDefaultSignature)
  const remove = useApiMutation(smsRoutes.deleteSignature)
  const [isAdding, setAdding] = useState(false)
  const [deleting, setDeleting] = useState<AccountSignature>()
  const canChange = me.data?.read_only === false
  const makeDefault = (id: number | null) =>
    changeDefault.mutate({ body: { id } }, { onSuccess: () => void message.success(t.defaultChanged) })
  return (
    <>
      <div className="filters">
        <span className="muted">{t.signaturesLead(signatures.data?.platform_sign_name ?? '')}</span>
        {canChange && (
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setAdding(true)}>
            {t.addSignature}
          </Button>
        )}
      </div>
      <ActionError error={changeDefault.error} />
      <Card size="small">
        <List<AccountSignature, NonNullable<typeof signatures.data>>
          query={signatures}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.signatures}
          empty={{ text: t.emptySignatures }}
          columns={[
            {
              title: t.signName,
              render: (_value, { sign_name, is_default }) => (
                <span className="row">
                  <strong>【{sign_name}】</strong>
                  {is_default && <Tag>{t.isDefault}</Tag>}
                </span>
              ),
            },
            { title: t.type, render: (_value, { type }) => t[type] },
            {
              title: t.state,
              card: 'side',
              render: (_value, { state, reason, vendors }) => (
                <div>
                  <ReviewState state={state} />
                  {reason && (
                    <div className="small muted" style={{ maxWidth: 200, whiteSpace: 'normal' }}>
                      {reason}
                    </div>
                  )}
                  <VendorStates vendors={vendors} />
                </div>
              ),
            },
            {
              title: t.proofs,
              render: (_value, signature) => <Proofs signature={signature} canChange={canChange} />,
            },
            { title: t.updated, render: (_value, { updated_at }) => <RelativeTime at={updated_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, signature) =>
                canChange && (
                  <span className="row" style={{ justifyContent: 'flex-end' }}>
                    {signature.is_default ? (
                      <Button size="small" onClick={() => makeDefault(null)}>
                        {t.usePlatform}
                      </Button>
                    ) : (
                      signature.state === '审核通过' && (
                        <Button size="small" onClick={() => makeDefault(signature.id)}>
                          {t.makeDefault}
                        </Button>
                      )
                    )}
                    <Button size="small" danger onClick={() => setDeleting(signature)}>
                      {t.delete}
                    </Button>
                  </span>
                ),
            },
          ]}
        />
      </Card>
      <AddDialog open={isAdding} onClose={() => setAdding(false)} />
      <ConfirmItem
        item={deleting}
        danger
        title={t.deleteTitle}
        consequence={({ sign_name }) => t.deleteText(sign_name)}
        ok={t.delete}
        done={t.deleted}
        onClose={() => setDeleting(undefined)}
        onConfirm={({ id }) => remove.mutateAsync({ body: {}, params: { id } })}
      />
    </>
  )
}

function Proofs({
  signature,
  canChange,
}: {
  readonly signature: AccountSignature
  readonly canChange: boolean
}): ReactNode {
  const t = useText(signaturesText)
  const { message } = App.useApp()
  const add = useApiMutation(smsRoutes.addProof)
  const remove = useApiMutation(smsRoutes.removeProof)
  const [removing, setRemoving] = useState<Proof>()
  const isOpen = canChange && signature.state !== '审核通过'
  const upload = async (file: File) => {
    if (file.size > proofLimits.bytes) return void message.error(t.tooLarge(maxProofKb))
    const body = { name: file.name, content: await toBase64(file) }
    add.mutate({ body, params: { id: signature.id } }, { onSuccess: () => void message.success(t.uploaded) })
  }
  return (
    <div className="stack-8" style={{ maxWidth: 280, whiteSpace: 'normal' }}>
      {signature.proofs.map((proof) => (
        <span key={proof.id} className="row">
          <a href={routeUrl(smsRoutes.proofFile, {}, { id: proof.id })} download>
            {proof.name}
          </a>
          {isOpen && (
            <Button
              size="small"
              type="text"
              icon={<DeleteOutlined />}
              aria-label={t.removeProof(proof.name)}
              onClick={() => setRemoving(proof)}
            />
          )}
        </span>
      ))}
      {isOpen && signature.proofs.length < proofLimits.perSignature && (
        <Upload
          accept=".png,.jpg,.jpeg,.pdf"
          showUploadList={false}
          beforeUpload={(file) => {
            void upload(file)
            return false
          }}
        >
          <Button size="small" icon={<UploadOutlined />} loading={add.isPending}>
            {t.upload}
          </Button>
        </Upload>
      )}
      <ActionError error={add.error} />
      <Confirm
        open={removing !== undefined}
        danger
        title={t.removeProof(removing?.name ?? '')}
        consequence={t.removeProofText}
        ok={t.delete}
        onClose={() => setRemoving(undefined)}
        onConfirm={async () => {
          if (!removing) return
          await remove.mutateAsync({ body: {}, params: { id: signature.id, proof: removing.id } })
        }}
      />
    </div>
  )
}

function AddDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): ReactNode {
  const t = useText(signaturesText)
  const { message } = App.useApp()
  const [form] = Form.useForm<SignatureFields>()
  const add = useApiMutation(smsRoutes.addSignature)
  return (
    <FormDialog<SignatureFields>
      open={open}
      title={t.addSignature}
      ok={t.submit}
      danger={false}
      form={form}
      initial={{ type: 'company' }}
      onClose={onClose}
      onSubmit={async (fields) => {
        await add.mutateAsync({ body: fields })
        message.success(t.submitted)
      }}
    >
      <Form.Item
        name="sign_name"
        label={t.signName}
        extra={t.signRule(minLength, maxLength)}
        rules={[{ required: true, whitespace: true, message: t.required }]}
      >
        <Input showCount maxLength={maxLength} />
      </Form.Item>
      <Form.Item name="type" label={t.type}>
        <Select options={signatureTypes.map((type) => ({ value: type, label: t[type] }))} />
      </Form.Item>
      <Form.Item name="note" label={t.note} extra={t.proofsHint(proofLimits.perSignature, maxProofKb)}>
        <Input.TextArea maxLength={maxNoteLength} autoSize={{ minRows: 2 }} />
      </Form.Item>
    </FormDialog>
  )
}
