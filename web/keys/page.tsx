// The API key page: create, reset and clear the key; its limits; code samples.
import { KeyOutlined } from '@ant-design/icons'
import { Alert, App, Button, Card, Descriptions } from 'antd'
import { type ReactNode, useState } from 'react'
import { keyRoutes } from '../../contract/console/key.ts'
import type { KeyState } from '../../contract/console/responses/key.ts'
import { useApiQuery, useMe, useApiMutation } from '../api/hooks.ts'
import { useLanguage, useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { RelativeTime, formatCount } from '../parts/format.tsx'
import { LeaveGuard } from '../parts/leave-guard.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { Page } from '../parts/page.tsx'
import { openDocsWithKey } from './docs-key.ts'
import { LimitsCard } from './limits-card.tsx'
import { Samples } from './samples-card.tsx'
import { keysText } from './text.ts'

export function KeysPage(): ReactNode {
  const t = useText(keysText)
  const state = useApiQuery(keyRoutes.state, {})
  const me = useMe()
  // The complete key exists only here, until the user leaves the page or confirms that it is saved.
  const [newKey, setNewKey] = useState<string>()
  return (
    <Page title={t.title} lead={t.lead}>
      <Card title={<h2>{t.card}</h2>}>
        {newKey === undefined ? (
          <Loaded query={state}>
            {(key) =>
              key.hint === null ? (
                <NoKey readOnly={me.data?.read_only ?? false} onCreated={setNewKey} />
              ) : (
                <MaskedKey hint={key.hint} state={key} />
              )
            }
          </Loaded>
        ) : (
          <NewKeyBox value={newKey} onSaved={() => setNewKey(undefined)} />
        )}
      </Card>
      <Samples newKey={newKey} />
      <LimitsCard readOnly={me.data?.read_only !== false} />
      {state.data?.hint && newKey === undefined && me.data?.read_only === false && (
        <DangerZone state={state.data} onCreated={setNewKey} />
      )}
    </Page>
  )
}

function NoKey({ readOnly, onCreated }: { readOnly: boolean; onCreated: (key: string) => void }): ReactNode {
  const t = useText(keysText)
  const generate = useApiMutation(keyRoutes.generate)
  // A callback of `mutate` would be lost: the refetched state shows the masked key and unmounts this component. The error is shown below.
  const create = async () => {
    const { api_key } = await generate.mutateAsync({ body: {} })
    onCreated(api_key)
  }
  return (
    <div className="stack">
      <span>{t.none}</span>
      {readOnly ? (
        <span className="muted">{t.readOnly}</span>
      ) : (
        <div>
          <Button
            type="primary"
            icon={<KeyOutlined />}
            loading={generate.isPending}
            onClick={() => void create().catch(() => {})}
          >
            {t.generate}
          </Button>
        </div>
      )}
      <ActionError error={generate.error} />
    </div>
  )
}

function MaskedKey({ hint, state }: { hint: string; state: KeyState }): ReactNode {
  const t = useText(keysText)
  return (
    <Descriptions
      column={{ xs: 1, sm: 2, xl: 4 }}
      items={[
        { key: 'hint', label: t.current, children: <span className="mono">{hint}</span> },
        { key: 'created', label: t.created, children: <RelativeTime at={state.created_at} /> },
        { key: 'last', label: t.lastCall, children: <RelativeTime at={state.last_call_at} /> },
        { key: 'calls', label: t.calls24, children: t.calls(formatCount(state.calls_24h)) },
      ]}
    />
  )
}

function NewKeyBox({ value, onSaved }: { value: string; onSaved: () => void }): ReactNode {
  const t = useText(keysText)
  const language = useLanguage()
  return (
    <div className="stack">
      <Alert type="warning" showIcon title={t.once} description={t.onceText} />
      <div className="key-box" data-testid="fresh-key">
        {value}
      </div>
      <div className="row">
        <CopyButton text={value} label={t.card} primary>
          {t.copy}
        </CopyButton>
        <Button onClick={() => openDocsWithKey(value, language)}>{t.useInDocs}</Button>
        <Button onClick={onSaved}>{t.saved}</Button>
      </div>
      <LeaveGuard title={t.leaveTitle} text={t.leaveText} />
    </div>
  )
}

function DangerZone({ state, onCreated }: { state: KeyState; onCreated: (key: string) => void }): ReactNode {
  const t = useText(keysText)
  const { message } = App.useApp()
  const [action, setAction] = useState<'reset' | 'clear'>()
  const reset = useApiMutation(keyRoutes.reset)
  const clear = useApiMutation(keyRoutes.clear)
  const calls = formatCount(state.calls_24h)
  return (
    <Card title={<h2>{t.danger}</h2>} className="danger-card">
      <p style={{ marginTop: 0 }}>{t.dangerText}</p>
      <div className="row">
        <Button danger onClick={() => setAction('reset')}>
          {t.reset}
        </Button>
        <Button danger onClick={() => setAction('clear')}>
          {t.clear}
        </Button>
      </div>
      <Confirm
        open={action === 'reset'}
        danger
        title={t.resetTitle}
        consequence={t.resetText(calls)}
        ok={t.reset}
        password={t.password}
        onClose={() => setAction(undefined)}
        onConfirm={async ({ password }) => {
          const { api_key } = await reset.mutateAsync({ body: { password } })
          onCreated(api_key)
        }}
      />
      <Confirm
        open={action === 'clear'}
        danger
        title={t.clearTitle}
        consequence={t.clearText(calls)}
        ok={t.clear}
        password={t.password}
        onClose={() => setAction(undefined)}
        onConfirm={async ({ password }) => {
          await clear.mutateAsync({ body: { password } })
          message.success(t.cleared)
        }}
      />
    </Card>
  )
}
