// A call of the public interface from the page: the key is typed here and kept nowhere.
import { Alert, Button, Input } from 'antd'
import { type ReactNode, useId, useState } from 'react'
import { useMe, useStart } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { exampleBody, type NamedOperation } from '../keys/operations.ts'
import { docsText } from './text.ts'

interface Answer {
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
  const [written, setWritten] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [answer, setAnswer] = useState<Answer | 'offline'>()
  const { api_key: _placeholder, ...example } = exampleBody(chosen, {
    username: me.data?.account.username ?? '',
    key: '',
  })
  const text = written ?? JSON.stringify(example, null, 2)
  const body = readObject(text)
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
      const told = await response.text()
      const parsed = readObject(told)
      setAnswer({
        status: response.status,
        requestId: response.headers.get('x-request-id'),
        body: parsed ? JSON.stringify(parsed, null, 2) : told,
      })
    } catch {
      setAnswer('offline')
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
          value={text}
          onChange={(event) => setWritten(event.target.value)}
        />
        {!body && <span className="tone-error">{t.notJson}</span>}
      </div>
      <div>
        <Button type="primary" htmlType="submit" loading={busy} disabled={!body || key === ''}>
          {t.send}
        </Button>
      </div>
      <div aria-live="polite">
        {answer === 'offline' && <Alert type="error" showIcon title={t.offline} />}
        {answer !== undefined && answer !== 'offline' && (
          <div className="stack-8">
            <strong>
              {t.response}: HTTP {answer.status}
            </strong>
            <pre className="code wrap" tabIndex={0} aria-label={t.response}>
              {answer.body}
            </pre>
            {answer.requestId !== null && <span className="small muted mono">{answer.requestId}</span>}
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
