// Reviews of submitted templates and signatures: approve, or reject with a reason.
import { App, Button, Card, Form, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { maxReasonLength } from '../../contract/console/limits.ts'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import type { Review } from '../../contract/console/responses/operator-products.ts'
import { type SignatureType, templateStates, type TemplateType } from '../../contract/sms-text.ts'
import { routeUrl } from '../api/client.ts'
import { useApiQuery, useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { RelativeTime } from '../parts/format.tsx'
import { SelectFilter } from '../parts/filters.tsx'
import { List, pageFooter } from '../parts/list.tsx'
import { objectTitle, Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { ReviewState, reviewStateText } from '../sms/review-state.tsx'
import { signaturesText } from '../sms/signatures-text.ts'
import { smsText } from '../sms/text.ts'
import { VendorStates } from '../sms/vendor-states.tsx'
import { AccountByName } from './account-link.tsx'
import { OperatorForm } from './operator-form.tsx'
import { productsText } from './products-text.ts'
import { UnmatchedReplies } from './unmatched-replies.tsx'

const defaults = { kind: '', state: '审核中', page: '1', size: '20' }
const kinds = ['template', 'signature'] as const

interface PendingDecision {
  readonly review: Review
  readonly verdict: 'approve' | 'refuse'
}

export function ReviewsPage(): ReactNode {
  const t = useText(productsText)
  const pick = usePick()
  const [params, setParams] = useUrlState(defaults)
  const [deciding, setDeciding] = useState<PendingDecision>()
  const kind = kinds.find((known) => known === params.kind)
  const state = templateStates.find((known) => known === params.state)
  const reviews = useApiQuery(operatorProductRoutes.reviews, {
    page: Number(params.page),
    size: Number(params.size),
    ...(kind ? { kind } : {}),
    ...(state ? { state } : {}),
  })
  const types = useText(smsText)
  const signatureTypes = useText(signaturesText)
  const typeName = ({ type }: Review): string =>
    ({ ...types, ...signatureTypes })[type as TemplateType | SignatureType]
  return (
    <Page title={t.reviews} lead={t.reviewsLead}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <Select
          aria-label={t.state}
          style={{ minWidth: 130 }}
          value={params.state}
          onChange={(value) => setParams({ state: value, page: '1' })}
          options={templateStates.map((value) => ({
            value: value as string,
            label: pick(reviewStateText(value)),
          }))}
        />
        <SelectFilter
          label={t.kind}
          allLabel={t.allKinds}
          value={params.kind}
          values={kinds}
          nameOf={(value) => t[value]}
          onChange={(value) => setParams({ kind: value, page: '1' })}
        />
      </div>
      <Card size="small">
        <List<Review, NonNullable<typeof reviews.data>>
          query={reviews}
          items={({ items }) => items}
          rowKey={(review) => `${review.kind}${review.id}`}
          label={t.reviews}
          empty={{ text: t.noReviews }}
          onClear={kind ? () => setParams(defaults) : undefined}
          columns={[
            { title: t.account, render: (_value, { username }) => <AccountByName name={username} /> },
            { title: t.kind, render: (_value, review) => `${t[review.kind]} · ${typeName(review)}` },
            {
              title: t.content,
              render: (_value, review) => (
                <div style={{ maxWidth: 'clamp(200px, 28vw, 480px)', whiteSpace: 'normal' }}>
                  <ReviewContent review={review} />
                  {review.reason && <div className="small muted">{review.reason}</div>}
                </div>
              ),
            },
            {
              title: t.state,
              card: 'side',
              render: (_value, review) => (
                <div>
                  <ReviewState state={review.state} />
                  {review.state === '审核通过' && <VendorStates vendors={review.vendors} />}
                </div>
              ),
            },
            { title: t.at, render: (_value, { at }) => <RelativeTime at={at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, review) =>
                review.state === '审核通过' ? (
                  <SubmitButton review={review} />
                ) : (
                  review.state === '审核中' && (
                    <May change="reviews">
                      <span className="row" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
                        <Button
                          size="small"
                          type="primary"
                          onClick={() => setDeciding({ review, verdict: 'approve' })}
                        >
                          {t.approve}
                        </Button>
                        <Button
                          size="small"
                          danger
                          onClick={() => setDeciding({ review, verdict: 'refuse' })}
                        >
                          {t.reject}
                        </Button>
                      </span>
                    </May>
                  )
                ),
            },
          ]}
          footer={pageFooter(setParams)}
        />
      </Card>
      <UnmatchedReplies />
      <DecisionDialog deciding={deciding} onClose={() => setDeciding(undefined)} />
    </Page>
  )
}

/** Submits to the vendors that do not review it now. */
function SubmitButton({ review }: { review: Review }): ReactNode {
  const t = useText(productsText)
  const { message } = App.useApp()
  const submit = useApiMutation(operatorProductRoutes.submitReview)
  const gateways = review.vendors
    .filter(({ state }) => state === 'none' || state === 'refused' || state === 'failed')
    .map(({ gateway }) => gateway)
  if (gateways.length === 0) return null
  const isAgain = review.vendors.some(({ state }) => state === 'refused' || state === 'failed')
  return (
    <div className="stack-8" style={{ alignItems: 'flex-end' }}>
      <Button
        size="small"
        loading={submit.isPending}
        onClick={() =>
          submit.mutate(
            { body: { gateways }, params: { kind: review.kind, id: review.id } },
            { onSuccess: () => void message.success(t.submittedToVendors) },
          )
        }
      >
        {isAgain ? t.submitAgain : t.submitToVendors}
      </Button>
      <ActionError error={submit.error} />
    </div>
  )
}

/** What the account holder has submitted. */
function ReviewContent({ review }: { review: Review }): ReactNode {
  return (
    <>
      <strong>{review.kind === 'signature' ? `【${review.name}】` : review.name}</strong>{' '}
      <span className="mono muted">{review.code}</span>
      <div style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{review.content}</div>
      {review.note && <div className="small">{review.note}</div>}
      {review.proofs.map((proof) => (
        <div key={proof.id} className="small">
          <a href={routeUrl(operatorProductRoutes.proofFile, {}, { id: proof.id })} download>
            {proof.name}
          </a>
        </div>
      ))}
    </>
  )
}

/** The decision is about this content, so the dialog shows it. */
function Judged({ review }: { review: Review }): ReactNode {
  const t = useText(productsText)
  return (
    <div className="judged">
      <div className="muted small">
        {review.username} · {t[review.kind]}
      </div>
      <ReviewContent review={review} />
    </div>
  )
}

function DecisionDialog({
  deciding,
  onClose,
}: {
  deciding: PendingDecision | undefined
  onClose: () => void
}): ReactNode {
  const t = useText(productsText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ reason?: string; note: string }>()
  const decide = useApiMutation(operatorProductRoutes.decideReview)
  const isRejecting = deciding?.verdict === 'refuse'
  return (
    <OperatorForm<{ reason?: string }>
      open={deciding !== undefined}
      title={objectTitle(isRejecting ? t.reject : t.approve, deciding?.review.name)}
      ok={isRejecting ? t.reject : t.approve}
      form={form}
      warning={isRejecting ? t.rejectText : undefined}
      isNoteOptional={!isRejecting}
      onClose={onClose}
      onSubmit={async ({ reason, note }) => {
        if (!deciding) return
        const { kind, id, revision } = deciding.review
        await decide.mutateAsync({
          body: {
            verdict: deciding.verdict,
            ...(note ? { note } : {}),
            ...(reason ? { reason } : {}),
            // Rejects the decision if the account has changed the content in the meantime.
            ...(revision === undefined ? {} : { revision }),
          },
          params: { kind, id },
        })
        message.success(t.decided)
      }}
    >
      {deciding && <Judged review={deciding.review} />}
      {!isRejecting && <p>{t.approveText}</p>}
      {isRejecting && (
        <Form.Item
          name="reason"
          label={t.reason}
          rules={[{ required: true, whitespace: true, message: common.required }]}
        >
          <Input.TextArea placeholder={t.reasonHint} maxLength={maxReasonLength} autoSize={{ minRows: 2 }} />
        </Form.Item>
      )}
    </OperatorForm>
  )
}
