// The form that sends one message. It shows the price before sending.
import { Link } from '@tanstack/react-router'
import { Alert, Button, Card, Form, Input, Select } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { type SmsDraft, smsRoutes } from '../../contract/console/sms.ts'
import type { SmsPrice, Template } from '../../contract/console/responses/sms.ts'
import { isPhoneNumber, phoneLength, phonePattern, phoneRule } from '../../contract/sms-text.ts'
import { sms } from '../../contract/sms.ts'
import { callApi } from '../api/client.ts'
import { useApiQuery, useMe, useStart, useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { formatCount } from '../parts/format.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { Loaded } from '../parts/loaded.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { splitTemplate } from './message.ts'
import { Phone } from './phone.tsx'
import { smsText } from './text.ts'

interface FormValues {
  readonly phone_number?: string
  readonly template_code?: string
  readonly sign_name?: string
  readonly params?: Readonly<Record<string, string>>
}

const signLimits = sms.operations.send.parameters.sign_name
const signPattern = new RegExp(`^[^【】[\\]]{${signLimits.minLength},${signLimits.maxLength}}$`, 'u')

export function Send(): ReactNode {
  const t = useText(smsText)
  const start = useStart()
  const me = useMe()
  const templates = useApiQuery(smsRoutes.templates, { state: '审核通过', size: 200 })
  return (
    <div className="stack">
      <Loaded query={templates}>
        {({ items }) =>
          me.data?.read_only ? (
            <span className="muted">{t.readOnly}</span>
          ) : items.length === 0 ? (
            <Alert
              type="info"
              showIcon
              title={t.noTemplates}
              action={<Link to="/sms">{t.toTemplates}</Link>}
            />
          ) : (
            <>
              {start.data?.sandbox.includes('sms') && <p className="muted hint">{t.sandbox}</p>}
              <SendForm templates={items} />
            </>
          )
        }
      </Loaded>
    </div>
  )
}

function SendForm({ templates }: { templates: readonly Template[] }): ReactNode {
  const t = useText(smsText)
  const pick = usePick()
  const common = useText(partsText)
  const [form] = Form.useForm<FormValues>()
  const values = Form.useWatch([], form) ?? {}
  const [{ template: initialCode }] = useUrlState({ template: '' })
  const signature = useApiQuery(smsRoutes.signature, {})
  const send = useApiMutation(smsRoutes.send, { idempotent: true })
  const first = templates.find(({ code }) => code === initialCode)?.code ?? templates[0]!.code
  const template = templates.find(({ code }) => code === (values.template_code ?? first)) ?? templates[0]!
  const draft = readDraft(values, template)
  // What was sent last: the same message again needs a deliberate step.
  const [sent, setSent] = useState('')
  const price = usePrice(draft, sent)
  const isSent = draft !== undefined && sent === JSON.stringify(draft)
  const sign =
    values.sign_name || signature.data?.sign_name || signature.data?.platform_sign_name || 'Tollgate'
  return (
    <Card size="small">
      <div className="editor">
        <Form
          name="send"
          form={form}
          layout="vertical"
          initialValues={{ template_code: first }}
          onFinish={() =>
            draft &&
            !isSent &&
            send.mutate(
              { body: draft },
              {
                onSuccess: () => setSent(JSON.stringify(draft)),
                onError: (error) => void showFieldErrors(form, error),
              },
            )
          }
        >
          <Form.Item
            name="template_code"
            label={t.template}
            rules={[{ required: true, message: t.templateRule }]}
          >
            <Select
              showSearch={{ optionFilterProp: 'label' }}
              options={templates.map(({ code, name }) => ({ value: code, label: `${name} (${code})` }))}
            />
          </Form.Item>
          <Form.Item
            name="phone_number"
            label={t.phone}
            rules={[
              { required: true, message: pick(phoneRule) },
              { pattern: new RegExp(phonePattern), message: pick(phoneRule), validateTrigger: ['onBlur'] },
            ]}
            validateTrigger={['onBlur', 'onSubmit']}
          >
            <Input inputMode="numeric" maxLength={phoneLength} className="mono" autoComplete="off" />
          </Form.Item>
          {template.variables.map((name) => (
            <Form.Item
              key={`${template.code} ${name}`}
              name={['params', name]}
              label={<span className="mono">{name}</span>}
              rules={[{ required: true, message: common.required }]}
            >
              <Input />
            </Form.Item>
          ))}
          <Form.Item
            name="sign_name"
            label={t.signature}
            extra={t.signatureHint}
            rules={[
              { pattern: signPattern, message: t.signatureRule(signLimits.minLength, signLimits.maxLength) },
            ]}
          >
            <Input maxLength={signLimits.maxLength} />
          </Form.Item>
          <div className="stack">
            <ActionError error={send.error} />
            {send.data && isSent && (
              <Alert
                type="success"
                showIcon
                title={t.sent(send.data.biz_id)}
                action={
                  <span className="row">
                    <Link to="/sms" search={{ tab: 'records' }}>
                      {t.viewRecords}
                    </Link>
                    <Button
                      size="small"
                      onClick={() => {
                        setSent('')
                        send.reset()
                      }}
                    >
                      {t.sendAnother}
                    </Button>
                  </span>
                }
              />
            )}
            <div className="form-foot">
              <span className="muted" aria-live="polite">
                {price ? t.price(formatCount(price.cost), formatCount(price.remaining)) : t.priceWait}
              </span>
              <Button type="primary" htmlType="submit" loading={send.isPending} disabled={isSent}>
                {t.send}
              </Button>
            </div>
          </div>
        </Form>
        <Phone sign={sign} pieces={splitTemplate(template.content, values.params ?? {})} />
      </div>
    </Card>
  )
}

/** Undefined while a required field is missing or invalid. */
function readDraft(values: FormValues, template: Template): SmsDraft | undefined {
  const params = template.variables.map((name) => [name, values.params?.[name] ?? ''] as const)
  if (!isPhoneNumber(values.phone_number ?? '') || params.some(([, value]) => value === '')) return undefined
  return {
    phone_number: values.phone_number!,
    template_code: template.code,
    template_params: Object.fromEntries(params),
    ...(values.sign_name ? { sign_name: values.sign_name } : {}),
  }
}

/** The price of the draft and the balance, requested 400 ms after the last change and again after a send. */
function usePrice(draft: SmsDraft | undefined, sent: string): SmsPrice | undefined {
  const [price, setPrice] = useState<SmsPrice>()
  const key = draft ? JSON.stringify(draft) : ''
  useEffect(() => {
    setPrice(undefined)
    if (key === '') return undefined
    const abort = new AbortController()
    const timer = setTimeout(() => {
      callApi(smsRoutes.price, JSON.parse(key) as SmsDraft, { signal: abort.signal }).then(setPrice, () => {})
    }, 400)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [key, sent])
  return price
}
