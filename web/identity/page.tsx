// Identity verification: two fields and the verdict; the history, masked.
import { Alert, Button, Card, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { identityRoutes, type IdentityVerdict } from '../../contract/console/identity.ts'
import { useMe, usePrices, useStart, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { count, Outcome } from '../parts/figures.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { StepError } from '../parts/step-error.tsx'
import { Page } from '../parts/page.tsx'
import { IdentityHistory } from './history.tsx'
import { hasRightCheckDigit, idcardShape } from './idcard.ts'
import { outcomeTones } from './outcome-tones.ts'
import { identityText } from './text.ts'

export function IdentityPage(): ReactNode {
  const words = useText(identityText)
  const start = useStart()
  const me = useMe()
  const verify = useTell(identityRoutes.verify, { once: true })
  return (
    <Page title={words.title} lead={words.lead}>
      {start.data?.sandbox.includes('identity') && <Alert type="info" showIcon title={words.sandbox} />}
      <div className="grid-2">
        <Card size="small" title={<h2>{words.tryOne}</h2>}>
          {me.data?.read_only ? (
            <span className="muted">{words.readOnly}</span>
          ) : (
            <VerifyForm verify={verify} />
          )}
        </Card>
        <Card size="small" title={<h2>{words.verdict}</h2>}>
          <Verdict verdict={verify.data} />
        </Card>
      </div>
      <Card size="small" title={<h2>{words.history}</h2>}>
        <IdentityHistory />
      </Card>
    </Page>
  )
}

function VerifyForm({ verify }: { verify: ReturnType<typeof useTell<Typed, IdentityVerdict>> }): ReactNode {
  const words = useText(identityText)
  const prices = usePrices()
  const [form] = Form.useForm<Typed>()
  return (
    <Form
      name="verify"
      form={form}
      layout="vertical"
      requiredMark={false}
      autoComplete="off"
      onFinish={(sent) => verify.mutate({ sent }, { onError: (error) => void showFieldErrors(form, error) })}
    >
      <Form.Item
        name="name"
        label={words.name}
        rules={[
          { required: true, message: words.nameRule },
          { pattern: /^[\p{Script=Han}A-Za-z ·•‧∙⋅・･-]{2,50}$/u, message: words.nameRule },
        ]}
      >
        <Input maxLength={50} />
      </Form.Item>
      <Form.Item
        name="idcard"
        label={words.idcard}
        validateTrigger={['onBlur', 'onSubmit']}
        rules={[
          { required: true, message: words.idcardRule },
          {
            validator: async (_rule, value: string | undefined) => {
              if (!value) return
              if (!idcardShape.test(value)) throw new Error(words.idcardRule)
              if (!hasRightCheckDigit(value)) throw new Error(words.idcardWrong)
            },
          },
        ]}
      >
        <Input className="mono" maxLength={18} />
      </Form.Item>
      <div className="stack">
        <StepError error={verify.error} />
        <div className="form-foot">
          <span className="muted">{words.price(prices.identity)}</span>
          <Button type="primary" htmlType="submit" loading={verify.isPending}>
            {words.verify}
          </Button>
        </div>
      </div>
    </Form>
  )
}

interface Typed {
  readonly name: string
  readonly idcard: string
}

function Verdict({ verdict }: { verdict: IdentityVerdict | undefined }): ReactNode {
  const words = useText(identityText)
  if (!verdict) return <div className="verdict muted">{words.waiting}</div>
  const names: Readonly<Record<string, string>> = {
    sex: words.sex,
    gender: words.sex,
    birthday: words.birthday,
    birth: words.birthday,
    age: words.age,
    province: words.province,
    city: words.city,
    district: words.district,
    address: words.address,
    location: words.address,
    nation: words.nation,
  }
  return (
    <div aria-live="polite">
      <div className="verdict">
        <Outcome tone={outcomeTones[verdict.outcome]}>{words[verdict.outcome]}</Outcome>
        <span className="muted" style={{ fontSize: 14 }}>
          {verdict.message} · {words.left(count(verdict.remaining))}
          {verdict.given_back > 0 && ` · ${words.returned}`}
        </span>
      </div>
      {Object.keys(verdict.extra).length > 0 && (
        <table className="plain-table">
          <tbody>
            {Object.entries(verdict.extra).map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{names[name] ?? name}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}
