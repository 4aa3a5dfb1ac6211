// The tokens that open the operator's JSON API to programs.
import { PlusOutlined } from '@ant-design/icons'
import { Button, Card } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorAdminRoutes } from '../../contract/console/operators.ts'
import type { TokenFacts } from '../../contract/console/responses/operators.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { May, useMay } from '../frame/rights.tsx'
import { ConfirmItem } from '../parts/confirm.tsx'
import { RelativeTime, StatusLabel } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { NewTokenModal } from './new-token.tsx'
import { tokensText } from './tokens-text.ts'

export function TokensPage(): ReactNode {
  const t = useText(tokensText)
  const tokens = useApiQuery(operatorAdminRoutes.tokens, {})
  const revoke = useApiMutation(operatorAdminRoutes.revokeToken)
  const mayChange = useMay('operators')
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<TokenFacts>()
  const create = (
    <May change="operators">
      <Button type="primary" icon={<PlusOutlined />} onClick={() => setCreating(true)}>
        {t.create}
      </Button>
    </May>
  )
  const actions = (
    <div className="row">
      <Button href="/openapi-operator.json" target="_blank" rel="noopener">
        {t.document}
      </Button>
      {create}
    </div>
  )
  return (
    <Page title={t.title} lead={t.lead} actions={actions}>
      <Card size="small">
        <List<TokenFacts, NonNullable<typeof tokens.data>>
          query={tokens}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.title}
          empty={{ text: t.empty, action: create }}
          columns={[
            {
              title: t.name,
              render: (_value, { name, hint }) => (
                <span>
                  <div>{name}</div>
                  <span className="mono small muted">{hint}</span>
                </span>
              ),
            },
            { title: t.createdBy, dataIndex: 'operator' },
            {
              title: t.scopes,
              render: (_value, { scopes }) => (
                <div className="mono small" style={{ maxWidth: 360, whiteSpace: 'normal' }}>
                  {scopes.join(', ')}
                </div>
              ),
            },
            { title: t.created, render: (_value, { created_at }) => <RelativeTime at={created_at} /> },
            {
              title: t.used,
              render: (_value, { used_at }) => (used_at === null ? t.never : <RelativeTime at={used_at} />),
            },
            {
              title: t.expires,
              render: (_value, { expires_on, expired }) => (
                <span className="row">
                  {expires_on ?? <span className="muted">{t.noEnd}</span>}
                  {expired && <StatusLabel tone="error">{t.expired}</StatusLabel>}
                </span>
              ),
            },
            ...(mayChange
              ? [
                  {
                    title: '',
                    align: 'end' as const,
                    render: (_value: unknown, token: TokenFacts) => (
                      <Button size="small" danger onClick={() => setRevoking(token)}>
                        {t.revoke}
                      </Button>
                    ),
                  },
                ]
              : []),
          ]}
        />
      </Card>
      <NewTokenModal open={creating} onClose={() => setCreating(false)} />
      <ConfirmItem
        item={revoking}
        danger
        withNote
        title={t.revokeTitle}
        consequence={({ name }) => t.revokeText(name)}
        ok={t.revoke}
        done={t.revoked}
        onClose={() => setRevoking(undefined)}
        onConfirm={({ id }, { note }) => revoke.mutateAsync({ body: { note }, params: { id } })}
      />
    </Page>
  )
}
