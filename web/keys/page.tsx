// The API key: made, shown once, reset, cleared; and samples that use it.
import { KeyOutlined } from '@ant-design/icons'
import { Alert, App, Button, Card, Descriptions } from 'antd'
import { type ReactNode, useState } from 'react'
import { keyRoutes, type KeyState } from '../../contract/console/key.ts'
import { useAsk, useMe, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Ago, count } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { StepError } from '../parts/step-error.tsx'
import { Page } from '../parts/page.tsx'
import { Samples } from './samples-card.tsx'
import { keysText } from './text.ts'

export function KeysPage(): ReactNode {
  const words = useText(keysText)
  const state = useAsk(keyRoutes.state, {})
  const me = useMe()
  // The whole key lives only here, until the page is left or the user says it is saved.
  const [fresh, setFresh] = useState<string>()
  return (
    <Page title={words.title} lead={words.lead}>
      <Card title={<h2>{words.card}</h2>}>
        {fresh === undefined ? (
          <Loaded asked={state}>
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
  const words = useText(keysText)
  const generate = useTell(keyRoutes.generate)
  return (
    <div className="stack">
      <span>{words.none}</span>
      {readOnly ? (
        <span className="muted">{words.readOnly}</span>
      ) : (
        <div>
          <Button
            type="primary"
            icon={<KeyOutlined />}
            loading={generate.isPending}
            onClick={() => generate.mutate({ sent: {} }, { onSuccess: ({ api_key }) => onMade(api_key) })}
          >
            {words.generate}
          </Button>
        </div>
      )}
      <StepError error={generate.error} />
    </div>
  )
}

function MaskedKey({ hint, state }: { hint: string; state: KeyState }): ReactNode {
  const words = useText(keysText)
  return (
    <Descriptions
      column={{ xs: 1, sm: 2, xl: 4 }}
      items={[
        { key: 'hint', label: words.current, children: <span className="mono">{hint}</span> },
        { key: 'created', label: words.created, children: <Ago at={state.created_at} /> },
        { key: 'last', label: words.lastCall, children: <Ago at={state.last_call_at} /> },
        { key: 'calls', label: words.calls24, children: words.calls(count(state.calls_24h)) },
      ]}
    />
  )
}

function FreshKey({ value, onSaved }: { value: string; onSaved: () => void }): ReactNode {
  const words = useText(keysText)
  return (
    <div className="stack">
      <Alert type="warning" showIcon title={words.once} description={words.onceText} />
      <div className="key-box" data-testid="fresh-key">
        {value}
      </div>
      <div className="row">
        <CopyButton text={value} what={words.keyWord} primary>
          {words.copy}
        </CopyButton>
        <Button onClick={onSaved}>{words.saved}</Button>
      </div>
    </div>
  )
}

function Danger({ state, onMade }: { state: KeyState; onMade: (key: string) => void }): ReactNode {
  const words = useText(keysText)
  const { message } = App.useApp()
  const [step, setStep] = useState<'reset' | 'clear'>()
  const reset = useTell(keyRoutes.reset)
  const clear = useTell(keyRoutes.clear)
  const calls = count(state.calls_24h)
  return (
    <Card title={<h2>{words.danger}</h2>} className="danger-card">
      <p style={{ marginTop: 0 }}>{words.dangerText}</p>
      <div className="row">
        <Button danger onClick={() => setStep('reset')}>
          {words.reset}
        </Button>
        <Button danger onClick={() => setStep('clear')}>
          {words.clear}
        </Button>
      </div>
      <Confirm
        open={step === 'reset'}
        danger
        title={words.resetTitle}
        consequence={words.resetText(calls)}
        ok={words.reset}
        password={words.password}
        onClose={() => setStep(undefined)}
        onConfirm={async ({ password }) => {
          const made = await reset.mutateAsync({ sent: { password } })
          onMade(made.api_key)
        }}
      />
      <Confirm
        open={step === 'clear'}
        danger
        title={words.clearTitle}
        consequence={words.clearText(calls)}
        ok={words.clear}
        password={words.password}
        onClose={() => setStep(undefined)}
        onConfirm={async ({ password }) => {
          await clear.mutateAsync({ sent: { password } })
          message.success(words.cleared)
        }}
      />
    </Card>
  )
}
