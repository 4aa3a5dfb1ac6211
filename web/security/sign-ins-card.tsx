// The list of sign-ins: when, from where, with which device and how.
import { Card } from 'antd'
import type { ReactNode } from 'react'
import type { SignInFacts } from '../../contract/console/responses/security.ts'
import { securityRoutes } from '../../contract/console/security.ts'
import { formatTime } from '../../contract/time.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { StatusLabel } from '../parts/format.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { securityText } from './text.ts'

export function SignInsCard(): ReactNode {
  const t = useText(securityText)
  const [params, setParams] = useUrlState({ before: '' })
  const signIns = useApiQuery(securityRoutes.signIns, cursorQuery(params.before))
  return (
    <Card title={<h2>{t.signIns}</h2>}>
      <div className="stack">
        <span className="muted">{t.signInsText}</span>
        <List<SignInFacts, NonNullable<typeof signIns.data>>
          query={signIns}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.signIns}
          empty={{ text: t.noSignIns }}
          columns={[
            { title: t.time, render: (_value, { at }) => formatTime(at) },
            {
              title: t.place,
              render: (_value, { address, place }) => (
                <span>
                  <span className="mono">{address}</span> {place}
                </span>
              ),
            },
            {
              title: t.device,
              render: (_value, { device, is_new }) => (
                <span className="row">
                  {device === '' ? '–' : device}
                  {is_new && <StatusLabel tone="warning">{t.isNew}</StatusLabel>}
                </span>
              ),
            },
            { title: t.method, render: (_value, signIn) => <Method signIn={signIn} /> },
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </div>
    </Card>
  )
}

function Method({ signIn }: { signIn: SignInFacts }): ReactNode {
  const t = useText(securityText)
  const { method, second_factor: factor } = signIn
  return factor === 'none' ? t[method] : `${t[method]} + ${t[factor]}`
}
