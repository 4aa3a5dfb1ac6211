// The two pools of link domains: state of each, probe now, add, remove.
import { PlusOutlined } from '@ant-design/icons'
import { App, Button, Card, Form, Input, Segmented } from 'antd'
import { type ReactNode, useState } from 'react'
import {
  operatorProductRoutes,
  type Pool,
  type PoolDomain,
} from '../../contract/console/operator-products.ts'
import { useAsk, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Ago, Outcome, type Tone } from '../parts/figures.tsx'
import { List } from '../parts/list.tsx'
import { StepError } from '../parts/step-error.tsx'
import { Page } from '../parts/page.tsx'
import { OperatorForm } from './operator-form.tsx'
import { productsText } from './products-text.ts'

const looks = {
  unknown: { tone: 'muted', word: 'stateUnknown' },
  ok: { tone: 'success', word: 'stateOk' },
  blocked: { tone: 'error', word: 'stateBlocked' },
  failed: { tone: 'warning', word: 'stateFailed' },
} as const satisfies Readonly<Record<PoolDomain['state'], { tone: Tone; word: string }>>

export function DomainsPage(): ReactNode {
  const words = useText(productsText)
  const { message } = App.useApp()
  const domains = useAsk(operatorProductRoutes.domains, {})
  const probe = useTell(operatorProductRoutes.probeDomain)
  const remove = useTell(operatorProductRoutes.removeDomain)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<PoolDomain>()
  const add = (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setAdding(true)}>
      {words.add}
    </Button>
  )
  return (
    <Page title={words.domains} lead={words.domainsLead} actions={add}>
      <StepError error={probe.error} />
      <Card size="small">
        <List<PoolDomain, NonNullable<typeof domains.data>>
          asked={domains}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.domains}
          empty={{ text: words.noDomains, action: add }}
          columns={[
            { title: words.pool, render: (_value, { pool }) => (pool === 'a' ? words.poolA : words.poolB) },
            { title: words.host, render: (_value, { host }) => <span className="mono">{host}</span> },
            {
              title: words.state,
              render: (_value, { state }) => (
                <Outcome tone={looks[state].tone}>{words[looks[state].word]}</Outcome>
              ),
            },
            { title: words.probed, render: (_value, { probed_at }) => <Ago at={probed_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, domain) => (
                <span className="row" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
                  <Button
                    size="small"
                    loading={probe.isPending && probe.variables.parts?.['id'] === domain.id}
                    onClick={() =>
                      probe.mutate(
                        { sent: {}, parts: { id: domain.id } },
                        {
                          onSuccess: ({ host, state }) =>
                            void message.info(words.probeDone(host, words[looks[state].word])),
                        },
                      )
                    }
                  >
                    {words.probe}
                  </Button>
                  <Button size="small" danger onClick={() => setRemoving(domain)}>
                    {words.remove}
                  </Button>
                </span>
              ),
            },
          ]}
        />
      </Card>
      <AddDomain open={adding} onClose={() => setAdding(false)} />
      <Confirm
        open={removing !== undefined}
        danger
        withNote
        title={words.removeTitle}
        consequence={words.removeText(removing?.host ?? '')}
        ok={words.remove}
        onClose={() => setRemoving(undefined)}
        onConfirm={async ({ note }) => {
          if (!removing) return
          await remove.mutateAsync({ sent: { note }, parts: { id: removing.id } })
          message.success(words.removed)
        }}
      />
    </Page>
  )
}

function AddDomain({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const words = useText(productsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ pool: Pool; host: string; note: string }>()
  const add = useTell(operatorProductRoutes.addDomain)
  return (
    <OperatorForm<{ pool: Pool; host: string }>
      open={open}
      title={words.add}
      ok={words.add}
      form={form}
      initial={{ pool: 'a' }}
      onClose={onClose}
      onSubmit={async (sent) => {
        await add.mutateAsync({ sent })
        message.success(words.added)
      }}
    >
      <Form.Item name="pool" label={words.pool}>
        <Segmented
          options={[
            { value: 'a', label: words.poolA },
            { value: 'b', label: words.poolB },
          ]}
        />
      </Form.Item>
      <Form.Item
        name="host"
        label={words.host}
        rules={[
          { required: true, message: words.hostRule },
          { pattern: /^[^\s/:]+\.[^\s/:]+(:\d+)?$/, message: words.hostRule },
        ]}
      >
        <Input className="mono" placeholder="go.example.com" maxLength={255} />
      </Form.Item>
    </OperatorForm>
  )
}
