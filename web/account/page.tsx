// One's own account: facts, password, sessions, signature.
import { Card, Descriptions } from 'antd'
import type { ReactNode } from 'react'
import { useMe } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Ago } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { PasswordCard } from './password-card.tsx'
import { SessionsCard } from './sessions-card.tsx'
import { SignatureCard } from './signature-card.tsx'
import { accountText } from './text.ts'

export function AccountPage(): ReactNode {
  const words = useText(accountText)
  const me = useMe()
  return (
    <Page title={words.title}>
      <Loaded asked={me}>
        {({ account, read_only }) => (
          <>
            <Card title={<h2>{words.facts}</h2>}>
              <Descriptions
                column={{ xs: 1, sm: 2, xl: 3 }}
                items={[
                  { key: 'name', label: words.username, children: account.username },
                  {
                    key: 'role',
                    label: words.role,
                    children: account.role === 'operator' ? words.roleOperator : words.roleAccount,
                  },
                  { key: 'created', label: words.created, children: <Ago at={account.created_at} /> },
                  { key: 'expires', label: words.expires, children: account.expires_on ?? words.noEnd },
                  { key: 'sms', label: words.smsState, children: account.sms_enabled ? words.on : words.off },
                ]}
              />
            </Card>
            <SignatureCard readOnly={read_only} />
            {!read_only && (
              <>
                <PasswordCard />
                <SessionsCard />
              </>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
