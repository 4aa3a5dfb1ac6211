// Account settings: the details of the account.
import { Card, Descriptions } from 'antd'
import type { ReactNode } from 'react'
import { useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { RelativeTime } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { accountText } from './text.ts'

export function AccountPage(): ReactNode {
  const t = useText(accountText)
  const me = useMe()
  return (
    <Page title={t.title}>
      <Loaded query={me}>
        {({ account }) => (
          <>
            <Card title={<h2>{t.facts}</h2>}>
              <Descriptions
                column={{ xs: 1, sm: 2, xl: 3 }}
                items={[
                  { key: 'name', label: t.username, children: account.username },
                  {
                    key: 'role',
                    label: t.role,
                    children: account.role === 'operator' ? t.roleOperator : t.roleAccount,
                  },
                  { key: 'created', label: t.created, children: <RelativeTime at={account.created_at} /> },
                  { key: 'expires', label: t.expires, children: account.expires_on ?? t.noEnd },
                  { key: 'sms', label: t.smsState, children: account.sms_enabled ? t.on : t.off },
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  )
}
