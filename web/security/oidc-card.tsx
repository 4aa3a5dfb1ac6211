// The users of the OpenID provider that can sign in to the account.
import { Button, Card } from 'antd'
import { type ReactNode, useState } from 'react'
import { oidcRoutes } from '../../contract/console/oidc.ts'
import type { OidcLinks } from '../../contract/console/responses/oidc.ts'
import { OidcResult } from '../account/oidc.tsx'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { ConfirmItem } from '../parts/confirm.tsx'
import { RelativeTime } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { securityText } from './text.ts'

type LinkedUser = OidcLinks['items'][number]

export function OidcCard({ readOnly }: { readOnly: boolean }): ReactNode {
  const t = useText(securityText)
  const [params] = useUrlState({ oidc: '' })
  const links = useApiQuery(oidcRoutes.links, {})
  const link = useApiMutation(oidcRoutes.link)
  const unlink = useApiMutation(oidcRoutes.unlink)
  const [removing, setRemoving] = useState<LinkedUser>()
  return (
    <Card
      title={<h2>{t.oidcTitle}</h2>}
      extra={
        !readOnly && (
          <Button
            loading={link.isPending}
            onClick={() => link.mutate({ body: {} }, { onSuccess: ({ url }) => window.location.assign(url) })}
          >
            {t.link}
          </Button>
        )
      }
    >
      <div className="stack">
        {params.oidc !== '' && params.oidc !== 'linked' && <OidcResult result={params.oidc} subject="" />}
        <span className="muted">{t.oidcText}</span>
        <ActionError error={link.error} />
        <List<LinkedUser, OidcLinks>
          query={links}
          items={({ items }) => items}
          rowKey={({ subject }) => subject}
          label={t.oidcTitle}
          empty={{ text: t.noLinks }}
          columns={[
            {
              title: t.user,
              render: (_value, { name, subject }) => <span title={subject}>{name}</span>,
            },
            { title: t.linkedAt, render: (_value, { linked_at }) => <RelativeTime at={linked_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, one) =>
                !readOnly && (
                  <Button size="small" danger onClick={() => setRemoving(one)}>
                    {t.unlink}
                  </Button>
                ),
            },
          ]}
        />
      </div>
      <ConfirmItem
        item={removing}
        danger
        title={t.unlink}
        consequence={({ name }) => t.unlinkText(name)}
        ok={t.unlink}
        done={t.unlinked}
        onClose={() => setRemoving(undefined)}
        onConfirm={({ subject }) => unlink.mutateAsync({ body: { subject } })}
      />
    </Card>
  )
}
