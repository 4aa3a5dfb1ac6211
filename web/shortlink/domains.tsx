// The own domains of the account: the TXT record to add, verification, removal.
import { PlusOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { App, Button, Card, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { ownDomainRoutes } from '../../contract/console/link-domains.ts'
import type { OwnDomain } from '../../contract/console/responses/link-domains.ts'
import { ownDomainLimits } from '../../contract/link-domains.ts'
import { useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { ConfirmItem } from '../parts/confirm.tsx'
import { Copyable } from '../parts/copy.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { BreakableUrl, RelativeTime, StatusLabel, type Tone } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { domainsText } from './domains-text.ts'

const tones: Readonly<Record<OwnDomain['state'], Tone>> = {
  unverified: 'muted',
  verified: 'success',
  missing: 'warning',
}

export function OwnDomainsPage(): ReactNode {
  const t = useText(domainsText)
  const { message } = App.useApp()
  const me = useMe()
  const domains = useApiQuery(ownDomainRoutes.list, {})
  const verify = useApiMutation(ownDomainRoutes.verify)
  const remove = useApiMutation(ownDomainRoutes.remove)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<OwnDomain>()
  const canChange = me.data?.read_only === false
  const add = canChange && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setAdding(true)}>
      {t.add}
    </Button>
  )
  return (
    <Page back={<Link to="/shortlink">{t.back}</Link>} title={t.title} lead={t.lead} actions={add}>
      <ActionError error={verify.error} />
      <Card size="small">
        <List<OwnDomain, NonNullable<typeof domains.data>>
          query={domains}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.title}
          empty={{ text: t.empty, action: add }}
          columns={[
            {
              title: t.host,
              render: (_value, { host }) => (
                <span className="mono host">
                  <BreakableUrl url={host} />
                </span>
              ),
            },
            {
              title: t.record,
              render: (_value, { txt_name, txt_value }) => (
                <div className="stack-8 small">
                  <Copyable text={txt_name} label={t.recordName} />
                  <Copyable text={txt_value} label={t.recordValue} />
                </div>
              ),
            },
            { title: t.state, card: 'side', render: (_value, domain) => <State domain={domain} /> },
            { title: t.checked, render: (_value, { checked_at }) => <RelativeTime at={checked_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, domain) =>
                canChange && (
                  <span className="row" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
                    <Button
                      size="small"
                      loading={verify.isPending && verify.variables.params?.['id'] === domain.id}
                      onClick={() =>
                        verify.mutate(
                          { body: {}, params: { id: domain.id } },
                          { onSuccess: () => void message.success(t.verifiedNow) },
                        )
                      }
                    >
                      {t.verify}
                    </Button>
                    <Button size="small" danger onClick={() => setRemoving(domain)}>
                      {t.remove}
                    </Button>
                  </span>
                ),
            },
          ]}
        />
      </Card>
      <AddDomain open={adding} onClose={() => setAdding(false)} />
      <ConfirmItem
        item={removing}
        danger
        title={t.removeTitle}
        consequence={({ host }) => t.removeText(host)}
        ok={t.remove}
        done={t.removed}
        onClose={() => setRemoving(undefined)}
        onConfirm={({ id }) => remove.mutateAsync({ body: {}, params: { id } })}
      />
    </Page>
  )
}

function State({ domain }: { domain: OwnDomain }): ReactNode {
  const t = useText(domainsText)
  return (
    <span title={domain.state === 'missing' ? t.missingHint : undefined}>
      <StatusLabel tone={domain.blocked ? 'error' : tones[domain.state]}>
        {domain.blocked ? t.blocked : t[domain.state]}
      </StatusLabel>
    </span>
  )
}

function AddDomain({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useText(domainsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ host: string }>()
  const add = useApiMutation(ownDomainRoutes.add)
  return (
    <FormDialog<{ host: string }>
      open={open}
      title={t.add}
      ok={t.add}
      danger={false}
      form={form}
      onClose={onClose}
      onSubmit={async (body) => {
        await add.mutateAsync({ body })
        message.success(t.added)
      }}
    >
      <Form.Item
        name="host"
        label={t.host}
        rules={[{ required: true, pattern: /^\s*[^\s/:]+\.[^\s/:]+\s*$/, message: t.hostRule }]}
      >
        <Input className="mono" placeholder="s.example.com" maxLength={ownDomainLimits.hostLength} />
      </Form.Item>
    </FormDialog>
  )
}
