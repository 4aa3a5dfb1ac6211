// A form that calls the public API. The key is used for the call and not stored.
import { Alert, Button, Input } from 'antd'
import { type ReactNode, useId, useState } from 'react'
import { useMe, useStart } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { exampleBody, type NamedOperation } from '../keys/operations.ts'
import { docsText } from './text.ts'

interface TryItResponse {
  readonly status: number
  readonly requestId: string | null
  readonly body: string
}

const sandboxGroup: Readonly<Record<string, 'sms' | 'identity' | 'domain_check' | undefined>> = {
  sms: 'sms',
  identity: 'identity',
  'domain-check': 'domain_check',
}

export function TryIt({ chosen }: { chosen: NamedOperation }): ReactNode {
  const t = useText(docsText)
  const me = useMe()
  const start = useStart()
  const keyId = useId()
  const bodyId = useId()
  const [key, setKey] = useState('')
  const [edited, setEdited] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<TryItResponse | 'offline'>()
  const { api_key: _placeholder, ...example } = exampleBody(chosen, {
    username: me.data?.account.username ?? '',
    key: '',
  })
  const input = edited ?? JSON.stringify(example, null, 2)
  const body = readObject(input)
  const group = sandboxGroup[chosen.endpoint.name]
  const isSandbox = group === undefined || start.data?.sandbox.includes(group) === true

  const send = async () => {
    setBusy(true)
    try {
      const response = await fetch(chosen.endpoint.path, {
        method: 'POST',
        credentials: 'omit',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: key, ...body }),
      })
      const text = await response.text()
      const parsed = readObject(text)
      setResult({
        status: response.status,
        requestId: response.headers.get('x-request-id'),
        body: parsed ? JSON.stringify(parsed, null, 2) : text,
      })
    } catch {
      setResult('offline')
    } finally {
      setBusy(false)
    }
  }

  return (
    <form
      className="stack"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        if (body) void send()
      }}
    >
      <Alert type={isSandbox ? 'info' : 'warning'} showIcon title={isSandbox ? t.trySandbox : t.tryReal} />
      <div className="stack-8">
        <label htmlFor={keyId}>{t.key}</label>
        <Input.Password
          id={keyId}
          className="mono"
          placeholder={t.keyHint}
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.target.value.trim())}
        />
      </div>
      <div className="stack-8">
        <label htmlFor={bodyId}>{t.body}</label>
        <Input.TextArea
          id={bodyId}
          className="mono"
          autoSize={{ minRows: 6, maxRows: 20 }}
          spellCheck={false}
          status={body ? '' : 'error'}
          value={input}
          onChange={(event) => setEdited(event.target.value)}
        />
        {!body && <span className="tone-error">{t.notJson}</span>}
      </div>
      <div>
        <Button type="primary" htmlType="submit" loading={busy} disabled={!body || key === ''}>
          {t.send}
        </Button>
      </div>
      <div aria-live="polite">
        {result === 'offline' && <Alert type="error" showIcon title={t.offline} />}
        {result !== undefined && result !== 'offline' && (
          <div className="stack-8">
            <strong>
              {t.response}: HTTP {result.status}
            </strong>
            <pre className="code wrap" tabIndex={0} aria-label={t.response}>
              {result.body}
            </pre>
            {result.requestId !== null && <span className="small muted mono">{result.requestId}</span>}
          </div>
        )}
      </div>
    </form>
  )
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
