// The security page: second factor, mail address, single sign-on, password, sessions and sign-ins.
import type { ReactNode } from 'react'
import { securityRoutes } from '../../contract/console/security.ts'
import { useApiQuery, useMe, useStart } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { MailCard } from './mail-card.tsx'
import { OidcCard } from './oidc-card.tsx'
import { PasswordCard } from './password-card.tsx'
import { SecondFactorCard } from './second-factor-card.tsx'
import { SessionsCard } from './sessions-card.tsx'
import { SignInsCard } from './sign-ins-card.tsx'
import { securityText } from './text.ts'

export function SecurityPage(): ReactNode {
  const t = useText(securityText)
  const state = useApiQuery(securityRoutes.state, {})
  const me = useMe()
  const start = useStart()
  const readOnly = me.data?.read_only !== false
  const mustEnrol = me.data?.user.must_enrol === true
  return (
    <Page title={t.title} lead={t.lead}>
      <Loaded query={state}>
        {({ second_factor, mail }) => (
          <>
            <SecondFactorCard state={second_factor} readOnly={readOnly} />
            {!mustEnrol && (
              <>
                {mail.available && <MailCard address={mail.address} readOnly={readOnly} />}
                {start.data?.oidc === true && <OidcCard readOnly={readOnly} />}
                {!readOnly && start.data?.password_login === true && <PasswordCard />}
                {!readOnly && <SessionsCard />}
                <SignInsCard />
              </>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
