// The links that share the statistics of one link or tag: create, list, revoke.
import { Alert, Button, Card, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { linkAnalyticsRoutes } from '../../contract/console/link-analytics.ts'
import type { LinkShare } from '../../contract/console/responses/link-analytics.ts'
import { shareLimits } from '../../contract/link-analytics.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { ConfirmItem } from '../parts/confirm.tsx'
import { Copyable } from '../parts/copy.tsx'
import { ExactTime, RelativeTime } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { analyticsText } from './analytics-text.ts'

interface SharesCardProps {
  readonly subject: { readonly link: number } | { readonly tag: string }
  readonly canChange: boolean
}

const choices = [shareLimits.days.min, 7, shareLimits.days.default, 90, shareLimits.days.max]

export function SharesCard({ subject, canChange }: SharesCardProps): ReactNode {
  const t = useText(analyticsText)
  const [days, setDays] = useState<number>(shareLimits.days.default)
  const [url, setUrl] = useState('')
  const [revoking, setRevoking] = useState<LinkShare>()
  const shares = useApiQuery(linkAnalyticsRoutes.shares, {})
  const share = useApiMutation(linkAnalyticsRoutes.share)
  const revoke = useApiMutation(linkAnalyticsRoutes.revoke)
  const isOfSubject = ({ link, tag }: LinkShare) =>
    'tag' in subject ? tag === subject.tag : link === subject.link
  return (
    <Card size="small" title={<h2>{t.shares}</h2>}>
      <div className="stack">
        <span className="muted prose">{t.sharesHint}</span>
        {canChange && (
          <div className="row">
            <Select<number>
              aria-label={t.days}
              style={{ width: 120 }}
              value={days}
              onChange={setDays}
              options={choices.map((value) => ({ value, label: t.nDays(value) }))}
            />
            <Button
              type="primary"
              loading={share.isPending}
              onClick={() =>
                share.mutate({ body: { ...subject, days } }, { onSuccess: (created) => setUrl(created.url) })
              }
            >
              {t.share}
            </Button>
          </div>
        )}
        <ActionError error={share.error} />
        {url !== '' && (
          <Alert
            type="success"
            title={t.shareOnce}
            description={<Copyable text={url} label={t.shareUrl} />}
            action={
              <Button size="small" onClick={() => setUrl('')}>
                {t.done}
              </Button>
            }
          />
        )}
        <List<LinkShare, NonNullable<typeof shares.data>>
          query={shares}
          items={({ items }) => items.filter(isOfSubject)}
          rowKey={({ id }) => id}
          label={t.shares}
          empty={{ text: t.noShares }}
          columns={[
            { title: t.createdAt, render: (_value, one) => <RelativeTime at={one.created_at} /> },
            { title: t.expiresAt, render: (_value, one) => <ExactTime at={one.expires_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, one) =>
                canChange && (
                  <Button size="small" danger onClick={() => setRevoking(one)}>
                    {t.revoke}
                  </Button>
                ),
            },
          ]}
        />
      </div>
      <ConfirmItem
        item={revoking}
        danger
        title={t.revokeTitle}
        consequence={() => t.revokeText}
        ok={t.revoke}
        done={t.revoked}
        onClose={() => setRevoking(undefined)}
        onConfirm={async ({ id }) => {
          await revoke.mutateAsync({ body: {}, params: { id } })
          setUrl('')
        }}
      />
    </Card>
  )
}
