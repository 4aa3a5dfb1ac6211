// The API key: made, shown once, reset, cleared; and samples that use it.
import { KeyOutlined } from '@ant-design/icons'
import { Alert, App, Button, Card, Descriptions } from 'antd'
import { type ReactNode, useState } from 'react'
import { keyRoutes, type KeyState } from '../../contract/console/key.ts'
import { useApiQuery, useMe, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { RelativeTime, formatCount } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { Page } from '../parts/page.tsx'
import { Samples } from './samples-card.tsx'
import { keysText } from './text.ts'

export function KeysPage(): ReactNode {
  const t = useText(keysText)
  const state = useApiQuery(keyRoutes.state, {})
  const me = useMe()
  // The whole key lives only here, until the page is left or the user says it is saved.
  const [fresh, setFresh] = useState<string>()
  return (
    <Page title={t.title} lead={t.lead}>
      <Card title={<h2>{t.card}</h2>}>
        {fresh === undefined ? (
          <Loaded query={state}>
            {(key) =>
              key.hint === null ? (
                <NoKey readOnly={me.data?.read_only ?? false} onMade={setFresh} />
              ) : (
                <MaskedKey hint={key.hint} state={key} />
              )
            }
          </Loaded>
        ) : (
          <FreshKey value={fresh} onSaved={() => setFresh(undefined)} />
        )}
      </Card>
      <Samples freshKey={fresh} />
      {state.data?.hint && fresh === undefined && me.data?.read_only === false && (
        <Danger state={state.data} onMade={setFresh} />
      )}
    </Page>
  )
}

function NoKey({ readOnly, onMade }: { readOnly: boolean; onMade: (key: string) => void }): ReactNode {
  const t = useText(keysText)
  const generate = useApiMutation(keyRoutes.generate)
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
            onClick={() => generate.mutate({ body: {} }, { onSuccess: ({ api_key }) => onMade(api_key) })}
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

function FreshKey({ value, onSaved }: { value: string; onSaved: () => void }): ReactNode {
  const t = useText(keysText)
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
        <Button onClick={onSaved}>{t.saved}</Button>
      </div>
    </div>
  )
}

function Danger({ state, onMade }: { state: KeyState; onMade: (key: string) => void }): ReactNode {
  const t = useText(keysText)
  const { message } = App.useApp()
  const [step, setStep] = useState<'reset' | 'clear'>()
  const reset = useApiMutation(keyRoutes.reset)
  const clear = useApiMutation(keyRoutes.clear)
  const calls = formatCount(state.calls_24h)
  return (
    <Card title={<h2>{t.danger}</h2>} className="danger-card">
      <p style={{ marginTop: 0 }}>{t.dangerText}</p>
      <div className="row">
        <Button danger onClick={() => setStep('reset')}>
          {t.reset}
        </Button>
        <Button danger onClick={() => setStep('clear')}>
          {t.clear}
        </Button>
      </div>
      <Confirm
        open={step === 'reset'}
        danger
        title={t.resetTitle}
        consequence={t.resetText(calls)}
        ok={t.reset}
        password={t.password}
        onClose={() => setStep(undefined)}
        onConfirm={async ({ password }) => {
          const made = await reset.mutateAsync({ body: { password } })
          onMade(made.api_key)
        }}
      />
      <Confirm
        open={step === 'clear'}
        danger
        title={t.clearTitle}
        consequence={t.clearText(calls)}
        ok={t.clear}
        password={t.password}
        onClose={() => setStep(undefined)}
        onConfirm={async ({ password }) => {
          await clear.mutateAsync({ body: { password } })
          message.success(t.cleared)
        }}
      />
    </Card>
  )
}
