// Gateways: which are on, how they do, their last errors, and a test.
import { App, Button, Card, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import {
  type GatewayState,
  type GatewayTest,
  operatorProductRoutes,
} from '../../contract/console/operator-products.ts'
import { useAsk, useTell } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Ago, count, duration, Outcome, type Tone } from '../parts/figures.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { gatewayGroupText } from './gateway-groups.ts'
import { OperatorForm } from './operator-form.tsx'
import { productsText } from './products-text.ts'

const breakerTones: Readonly<Record<GatewayState['breaker'], Tone>> = {
  closed: 'success',
  half_open: 'warning',
  open: 'error',
}

export function GatewaysPage(): ReactNode {
  const words = useText(productsText)
  const pick = usePick()
  const gateways = useAsk(operatorProductRoutes.gateways, {}, { refetchMs: 15_000 })
  const [testing, setTesting] = useState<GatewayState>()
  return (
    <Page title={words.gateways} lead={words.gatewaysLead}>
      <Card size="small">
        <List<GatewayState, NonNullable<typeof gateways.data>>
          asked={gateways}
          items={({ items }) => items}
          rowKey={({ group, name }) => `${group} ${name}`}
          label={words.gateways}
          empty={{ text: words.noGateways }}
          columns={[
            { title: words.group, render: (_value, { group }) => pick(gatewayGroupText[group]) },
            { title: words.name, render: (_value, { name }) => <span className="mono">{name}</span> },
            {
              title: words.position,
              align: 'end',
              render: (_value, { position }) => position ?? <span className="muted">{words.notOn}</span>,
            },
            {
              title: words.breaker,
              render: (_value, { breaker, position }) =>
                position !== null && <Outcome tone={breakerTones[breaker]}>{words[breaker]}</Outcome>,
            },
            {
              title: words.calls,
              align: 'end',
              render: (_value, { calls, position }) => <Counted of={calls} isOn={position !== null} />,
            },
            {
              title: words.failures,
              align: 'end',
              render: (_value, { failures, position }) => <Counted of={failures} isOn={position !== null} />,
            },
            { title: words.lastOk, render: (_value, { last_ok_at }) => <Ago at={last_ok_at} /> },
            {
              title: words.lastError,
              render: (_value, { last_error, last_error_at }) =>
                last_error === null ? (
                  <span className="muted">–</span>
                ) : (
                  <span>
                    {last_error} <Ago at={last_error_at} />
                  </span>
                ),
            },
            {
              title: '',
              align: 'end',
              render: (_value, gateway) =>
                gateway.position !== null && (
                  <Button size="small" onClick={() => setTesting(gateway)}>
                    {words.test}
                  </Button>
                ),
            },
          ]}
        />
      </Card>
      <TestGateway gateway={testing} onClose={() => setTesting(undefined)} />
    </Page>
  )
}

/** A gateway that is off has no figures, unless it was on since the start. */
function Counted({ of, isOn }: { of: number; isOn: boolean }): ReactNode {
  return isOn || of > 0 ? <span className="num">{count(of)}</span> : <span className="muted">–</span>
}

function TestGateway({
  gateway,
  onClose,
}: {
  gateway: GatewayState | undefined
  onClose: () => void
}): ReactNode {
  const words = useText(productsText)
  const { notification } = App.useApp()
  const [form] = Form.useForm<{ phone_number?: string; note: string }>()
  const test = useTell(operatorProductRoutes.testGateway)
  const tell = ({ ok, message, duration_ms }: GatewayTest) =>
    ok
      ? notification.success({ title: words.testOk(duration(duration_ms)), description: message })
      : notification.error({ title: words.testFailed, description: message, duration: 0 })
  return (
    <OperatorForm<{ phone_number?: string }>
      open={gateway !== undefined}
      title={words.testTitle(gateway?.name ?? '')}
      ok={words.test}
      form={form}
      onClose={onClose}
      onSubmit={async (sent) => {
        if (!gateway) return
        tell(await test.mutateAsync({ sent, parts: { group: gateway.group, name: gateway.name } }))
      }}
    >
      <p>{words.testText}</p>
      {gateway?.group === 'sms' && (
        <Form.Item
          name="phone_number"
          label={words.testPhone}
          rules={[{ required: true, pattern: /^1[3-9]\d{9}$/, message: words.phoneRule }]}
        >
          <Input inputMode="numeric" maxLength={11} className="mono" />
        </Form.Item>
      )}
    </OperatorForm>
  )
}
