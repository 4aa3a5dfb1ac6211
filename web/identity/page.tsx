// The identity verification page: a form, its result and the history.
import { Button, Card, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { identityRoutes, type IdentityInput } from '../../contract/console/identity.ts'
import type { IdentityVerdict } from '../../contract/console/responses/identity.ts'
import { checkDigitOf, extraKeys, identity, middleDots, nameSpaces } from '../../contract/identity.ts'
import { type ApiMutation, useApiMutation, useMe, usePrices, useStart } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { formatCount, StatusLabel } from '../parts/format.tsx'
import { Page } from '../parts/page.tsx'
import { IdentityHistory, outcomeTones } from './history.tsx'
import { identityText } from './text.ts'

const { name: nameLimits, idcard: idcardLimits } = identity.operations.verify.parameters
const idcardPattern = new RegExp(idcardLimits.pattern)
const namePattern = new RegExp(
  `^[\\p{Script=Han}A-Za-z·${middleDots}${nameSpaces}-]{${nameLimits.minLength},${nameLimits.maxLength}}$`,
  'u',
)

export function IdentityPage(): ReactNode {
  const t = useText(identityText)
  const start = useStart()
  const me = useMe()
  const verify = useApiMutation(identityRoutes.verify, { idempotent: true })
  return (
    <Page title={t.title} lead={t.lead}>
      <div className="grid-2">
        <Card size="small" title={<h2>{t.manual}</h2>}>
          {start.data?.sandbox.includes('identity') && <p className="muted hint">{t.sandbox}</p>}
          {me.data?.read_only ? <span className="muted">{t.readOnly}</span> : <VerifyForm verify={verify} />}
        </Card>
        <Card size="small" title={<h2>{t.result}</h2>}>
          <Verdict verdict={verify.data} />
        </Card>
      </div>
      <Card size="small" title={<h2>{t.history}</h2>}>
        <IdentityHistory />
      </Card>
    </Page>
  )
}

function VerifyForm({ verify }: { verify: ApiMutation<IdentityInput, IdentityVerdict> }): ReactNode {
  const t = useText(identityText)
  const prices = usePrices()
  const nameRule = t.nameRule(nameLimits.minLength, nameLimits.maxLength)
  const [form] = Form.useForm<IdentityInput>()
  return (
    <Form
      name="verify"
      form={form}
      layout="vertical"
      autoComplete="off"
      onFinish={(body) => verify.mutate({ body }, { onError: (error) => void showFieldErrors(form, error) })}
    >
      <Form.Item
        name="name"
        label={t.name}
        rules={[
          { required: true, message: nameRule },
          { pattern: namePattern, message: nameRule },
        ]}
      >
        <Input maxLength={nameLimits.maxLength} />
      </Form.Item>
      <Form.Item
        name="idcard"
        label={t.idcard}
        validateTrigger={['onBlur', 'onSubmit']}
        rules={[
          { required: true, message: t.idcardRule },
          {
            validator: async (_rule, value: string | undefined) => {
              if (!value) return
              if (!idcardPattern.test(value)) throw new Error(t.idcardRule)
              if (value[17]!.toUpperCase() !== checkDigitOf(value)) throw new Error(t.idcardChecksum)
            },
          },
        ]}
      >
        <Input className="mono" maxLength={idcardLimits.maxLength} />
      </Form.Item>
      <div className="stack">
        <ActionError error={verify.error} />
        <div className="form-foot">
          <span className="muted">{t.price(prices.identity)}</span>
          <Button type="primary" htmlType="submit" loading={verify.isPending}>
            {t.verify}
          </Button>
        </div>
      </div>
    </Form>
  )
}

function Verdict({ verdict }: { verdict: IdentityVerdict | undefined }): ReactNode {
  const t = useText(identityText)
  if (!verdict) return <div className="verdict muted">{t.waiting}</div>
  const details = extraKeys.filter((key) => verdict.extra[key] !== undefined)
  return (
    <div aria-live="polite">
      <div className="verdict">
        <StatusLabel tone={outcomeTones[verdict.outcome]}>{t[verdict.outcome]}</StatusLabel>
        <span className="muted" style={{ fontSize: 14 }}>
          {verdict.message} · {t.left(formatCount(verdict.remaining))}
          {verdict.given_back > 0 && ` · ${t.refunded}`}
        </span>
      </div>
      {details.length > 0 && (
        <table className="plain-table">
          <tbody>
            {details.map((key) => (
              <tr key={key}>
                <th scope="row">{t[key]}</th>
                <td>{verdict.extra[key]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}
