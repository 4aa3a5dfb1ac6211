// The domain pools of short links: probe, add and remove domains.
import { PlusOutlined } from '@ant-design/icons'
import { App, Button, Card, Form, Input, Segmented } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import type { PoolDomain } from '../../contract/console/responses/operator-products.ts'
import { maxHostLength } from '../../contract/link-domains.ts'
import { useApiQuery, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { ConfirmItem } from '../parts/confirm.tsx'
import { BreakableUrl, RelativeTime, StatusLabel, type Tone } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { Page } from '../parts/page.tsx'
import { OperatorForm } from './operator-form.tsx'
import { productsText } from './products-text.ts'
import type { Pool } from '../../contract/console/values.ts'

const states = {
  unknown: { tone: 'muted', label: 'stateUnknown' },
  ok: { tone: 'success', label: 'stateOk' },
  blocked: { tone: 'error', label: 'stateBlocked' },
  failed: { tone: 'warning', label: 'stateFailed' },
} as const satisfies Readonly<Record<PoolDomain['state'], { tone: Tone; label: string }>>

export function DomainsPage(): ReactNode {
  const t = useText(productsText)
  const { message } = App.useApp()
  const domains = useApiQuery(operatorProductRoutes.domains, {})
  const probe = useApiMutation(operatorProductRoutes.probeDomain)
  const remove = useApiMutation(operatorProductRoutes.removeDomain)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<PoolDomain>()
  const add = (
    <May change="domains">
      <Button type="primary" icon={<PlusOutlined />} onClick={() => setAdding(true)}>
        {t.add}
      </Button>
    </May>
  )
  return (
    <Page title={t.domains} lead={t.domainsLead} actions={add}>
      <ActionError error={probe.error} />
      <Card size="small">
        <List<PoolDomain, NonNullable<typeof domains.data>>
          query={domains}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.domains}
          empty={{ text: t.noDomains, action: add }}
          columns={[
            { title: t.pool, render: (_value, { pool }) => (pool === 'a' ? t.poolA : t.poolB) },
            {
              title: t.host,
              render: (_value, { host }) => (
                <span className="mono host">
                  <BreakableUrl url={host} />
                </span>
              ),
            },
            {
              title: t.state,
              card: 'side',
              render: (_value, { state }) => (
                <StatusLabel tone={states[state].tone}>{t[states[state].label]}</StatusLabel>
              ),
            },
            { title: t.probed, render: (_value, { probed_at }) => <RelativeTime at={probed_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, domain) => (
                <May change="domains">
                  <span className="row" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
                    <Button
                      size="small"
                      loading={probe.isPending && probe.variables.params?.['id'] === domain.id}
                      onClick={() =>
                        probe.mutate(
                          { body: {}, params: { id: domain.id } },
                          {
                            onSuccess: ({ host, state }) =>
                              void message.info(t.probeDone(host, t[states[state].label])),
                          },
                        )
                      }
                    >
                      {t.probe}
                    </Button>
                    <Button size="small" danger onClick={() => setRemoving(domain)}>
                      {t.remove}
                    </Button>
                  </span>
                </May>
              ),
            },
          ]}
        />
      </Card>
      <AddDomain open={adding} onClose={() => setAdding(false)} />
      <ConfirmItem
        item={removing}
        danger
        withNote
        title={t.removeTitle}
        consequence={({ host }) => t.removeText(host)}
        ok={t.remove}
        done={t.removed}
        onClose={() => setRemoving(undefined)}
        onConfirm={({ id }, { note }) => remove.mutateAsync({ body: { note }, params: { id } })}
      />
    </Page>
  )
}

function AddDomain({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useText(productsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ pool: Pool; host: string; note: string }>()
  const add = useApiMutation(operatorProductRoutes.addDomain)
  return (
    <OperatorForm<{ pool: Pool; host: string }>
      open={open}
      title={t.add}
      ok={t.add}
      form={form}
      initial={{ pool: 'a' }}
      onClose={onClose}
      onSubmit={async (body) => {
        await add.mutateAsync({ body })
        message.success(t.added)
      }}
    >
      <Form.Item name="pool" label={t.pool}>
        <Segmented
          options={[
            { value: 'a', label: t.poolA },
            { value: 'b', label: t.poolB },
          ]}
        />
      </Form.Item>
      <Form.Item
        name="host"
        label={t.host}
        rules={[
          { required: true, message: t.hostRule },
          { pattern: /^[^\s/:]+\.[^\s/:]+(:\d+)?$/, message: t.hostRule },
        ]}
      >
        <Input className="mono" placeholder="go.example.com" maxLength={maxHostLength} />
      </Form.Item>
    </OperatorForm>
  )
}
