// The gateways: priority, status, errors, and a test.
import { Alert, Button, Card, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import type { GatewayState, GatewayTest } from '../../contract/console/responses/operator-products.ts'
import { phoneLength, phonePattern, phoneRule } from '../../contract/sms-text.ts'
import { useApiQuery, useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { RelativeTime, formatCount, formatDuration, StatusLabel, type Tone } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { gatewayGroupText } from './gateway-groups.ts'
import { OperatorForm } from './operator-form.tsx'
import { productsText } from './products-text.ts'

const phoneRegExp = new RegExp(phonePattern)

const breakerTones: Readonly<Record<GatewayState['breaker'], Tone>> = {
  closed: 'success',
  half_open: 'warning',
  open: 'error',
}

export function GatewaysPage(): ReactNode {
  const t = useText(productsText)
  const pick = usePick()
  const gateways = useApiQuery(operatorProductRoutes.gateways, {}, { refetchMs: 15_000 })
  const [testing, setTesting] = useState<GatewayState>()
  const [tested, setTested] = useState<TestedGateway>()
  return (
    <Page title={t.gateways} lead={t.gatewaysLead}>
      {tested && <TestResult tested={tested} onClose={() => setTested(undefined)} />}
      <Card size="small">
        <List<GatewayState, NonNullable<typeof gateways.data>>
          query={gateways}
          items={({ items }) => items}
          rowKey={({ group, name }) => `${group} ${name}`}
          label={t.gateways}
          empty={{ text: t.noGateways }}
          columns={[
            { title: t.group, card: 'title', render: (_value, { group }) => pick(gatewayGroupText[group]) },
            {
              title: t.name,
              card: 'title',
              render: (_value, { name }) => <span className="mono">{name}</span>,
            },
            {
              title: t.position,
              align: 'end',
              render: (_value, { position }) => position ?? <span className="muted">{t.disabled}</span>,
            },
            {
              title: t.breaker,
              card: 'side',
              render: (_value, { breaker, position }) =>
                position !== null && <StatusLabel tone={breakerTones[breaker]}>{t[breaker]}</StatusLabel>,
            },
            {
              title: t.calls,
              align: 'end',
              render: (_value, { calls, position }) => <GatewayCount of={calls} isOn={position !== null} />,
            },
            {
              title: t.failures,
              align: 'end',
              render: (_value, { failures, position }) => (
                <GatewayCount of={failures} isOn={position !== null} />
              ),
            },
            { title: t.lastOk, render: (_value, { last_ok_at }) => <RelativeTime at={last_ok_at} /> },
            {
              title: t.lastError,
              render: (_value, { last_error, last_error_at }) =>
                last_error === null ? (
                  <span className="muted">–</span>
                ) : (
                  <span>
                    {last_error} <RelativeTime at={last_error_at} />
                  </span>
                ),
            },
            {
              title: '',
              align: 'end',
              render: (_value, gateway) =>
                gateway.position !== null && (
                  <May change="gateways">
                    <Button size="small" onClick={() => setTesting(gateway)}>
                      {t.test}
                    </Button>
                  </May>
                ),
            },
          ]}
        />
      </Card>
      <TestGateway gateway={testing} onTested={setTested} onClose={() => setTesting(undefined)} />
    </Page>
  )
}

/** A disabled gateway has numbers only if it was enabled since the service started. */
function GatewayCount({ of, isOn }: { of: number; isOn: boolean }): ReactNode {
  return isOn || of > 0 ? <span className="num">{formatCount(of)}</span> : <span className="muted">–</span>
}

interface TestedGateway {
  readonly name: string
  readonly result: GatewayTest
}

function TestResult({ tested, onClose }: { tested: TestedGateway; onClose: () => void }): ReactNode {
  const t = useText(productsText)
  const common = useText(partsText)
  const { ok, message, duration_ms } = tested.result
  const outcome = ok ? t.testOk(formatDuration(duration_ms)) : t.testFailed
  return (
    <Alert
      showIcon
      closable={{ onClose, 'aria-label': common.close }}
      type={ok ? 'success' : 'error'}
      title={`${tested.name} · ${outcome}`}
      description={message}
    />
  )
}

interface TestGatewayProps {
  readonly gateway: GatewayState | undefined
  readonly onTested: (tested: TestedGateway) => void
  readonly onClose: () => void
}

function TestGateway({ gateway, onTested, onClose }: TestGatewayProps): ReactNode {
  const t = useText(productsText)
  const pick = usePick()
  const [form] = Form.useForm<{ phone_number?: string; note: string }>()
  const test = useApiMutation(operatorProductRoutes.testGateway)
  return (
    <OperatorForm<{ phone_number?: string }>
      open={gateway !== undefined}
      title={t.testTitle(gateway?.name ?? '')}
      ok={t.test}
      form={form}
      onClose={onClose}
      onSubmit={async (body) => {
        if (!gateway) return
        const { group, name } = gateway
        onTested({ name, result: await test.mutateAsync({ body, params: { group, name } }) })
      }}
    >
      <p>{t.testText}</p>
      {gateway?.group === 'sms' && (
        <Form.Item
          name="phone_number"
          label={t.testPhone}
          rules={[{ required: true, pattern: phoneRegExp, message: pick(phoneRule) }]}
        >
          <Input inputMode="numeric" maxLength={phoneLength} className="mono" />
        </Form.Item>
      )}
    </OperatorForm>
  )
}
