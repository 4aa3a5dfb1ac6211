// Tabs of an account for operators: its ledger, requests and sessions, contact data and notes.
import { Link } from '@tanstack/react-router'
import { Button, Form, Input, Tag } from 'antd'
import type { ReactNode } from 'react'
import { creditRoutes } from '../../contract/console/credits.ts'
import { maxNoteLength } from '../../contract/console/limits.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { AccountFile } from '../../contract/console/responses/operator.ts'
import { requestRoutes } from '../../contract/console/requests.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { viewAsParameter } from '../../contract/console/route.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May, useMay } from '../frame/rights.tsx'
import { ActionError } from '../parts/action-error.tsx'
import {
  Amount,
  formatCount,
  formatDuration,
  ExactTime,
  RelativeTime,
  StatusLabel,
} from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { endpointText } from '../parts/names.ts'
import { operatorText } from './text.ts'

interface TabProps {
  readonly id: number
}

/** Reads a route of the account holder for another account; the first read is in the audit log. */
function viewed(id: number): Record<string, string> {
  return { [viewAsParameter]: String(id) }
}

export function LedgerTab({ id }: TabProps): ReactNode {
  const t = useText(operatorText)
  const pick = usePick()
  const ledger = useApiQuery(creditRoutes.ledger, { size: 50, ...viewed(id) })
  return (
    <List
      query={ledger}
      items={({ items }) => items}
      rowKey={(entry) => entry.id}
      label={t.tabLedger}
      empty={{ text: t.nothingYet }}
      columns={[
        { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
        { title: t.type, render: (_value, { api_type }) => pick(apiTypeNames[api_type]) },
        { title: t.amount, align: 'end', render: (_value, { amount }) => <Amount value={amount} /> },
        {
          title: t.remaining,
          align: 'end',
          render: (_value, { balance_after }) => <span className="num">{formatCount(balance_after)}</span>,
        },
        {
          title: t.note,
          render: (_value, { note, operation }) => note ?? <span className="mono">{operation?.action}</span>,
        },
      ]}
    />
  )
}

export function RequestsTab({ id }: TabProps): ReactNode {
  const t = useText(operatorText)
  const pick = usePick()
  const requests = useApiQuery(requestRoutes.list, { size: 50, ...viewed(id) })
  return (
    <List
      query={requests}
      items={({ items }) => items}
      rowKey={(call) => call.id}
      label={t.tabRequests}
      empty={{ text: t.nothingYet }}
      columns={[
        { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
        {
          title: t.operation,
          render: (_value, { endpoint, action, source }) => (
            <span>
              {pick(endpointText(endpoint))} <span className="mono muted">{action}</span>{' '}
              {source === 'console' && <Tag>{t.fromConsole}</Tag>}
            </span>
          ),
        },
        {
          title: t.state,
          card: 'side',
          render: (_value, { ok, code, message }) => (
            <StatusLabel tone={ok ? 'success' : 'error'}>
              {ok ? t.ok : `${code} ${message ?? ''}`}
            </StatusLabel>
          ),
        },
        {
          title: t.duration,
          align: 'end',
          render: (_value, { duration_ms }) => formatDuration(duration_ms),
        },
        {
          title: '',
          render: (_value, { request_id }) => (
            <Link to="/requests" search={{ open: request_id, ...viewed(id) }} target="_blank" reloadDocument>
              {t.open}
            </Link>
          ),
        },
      ]}
    />
  )
}

export function SessionsTab({ id }: TabProps): ReactNode {
  const t = useText(operatorText)
  const sessions = useApiQuery(sessionRoutes.sessions, viewed(id))
  return (
    <List
      query={sessions}
      items={({ items }) => items}
      rowKey={(session) => session.id}
      label={t.tabSessions}
      empty={{ text: t.nothingYet }}
      columns={[
        { title: t.created, render: (_value, { created_at }) => <ExactTime at={created_at} /> },
        { title: t.seen, render: (_value, { seen_at }) => <RelativeTime at={seen_at} /> },
        { title: t.address, render: (_value, { address }) => <span className="mono">{address}</span> },
        { title: t.agent, render: (_value, { agent }) => <span className="small">{agent}</span> },
      ]}
    />
  )
}

export function NotesTab({ id }: TabProps): ReactNode {
  const file = useApiQuery(operatorRoutes.file, {}, { params: { id } })
  return <Loaded query={file}>{(data) => <AccountFileForm id={id} file={data} />}</Loaded>
}

function AccountFileForm({ id, file }: { id: number; file: AccountFile }): ReactNode {
  const t = useText(operatorText)
  const [noteForm] = Form.useForm<{ note: string }>()
  const change = useApiMutation(operatorRoutes.changeContact)
  const add = useApiMutation(operatorRoutes.addNote)
  const mayChange = useMay('accounts')
  const params = { id }
  const labels = {
    company: t.contactCompany,
    name: t.contactName,
    phone: t.contactPhone,
    mail: t.contactMail,
  }
  return (
    <div className="stack">
      <Form
        name="contact"
        layout="vertical"
        initialValues={file.contact}
        disabled={!mayChange}
        onFinish={(body: AccountFile['contact']) => change.mutate({ body, params })}
      >
        <div className="grid-half">
          {(['company', 'name', 'phone', 'mail'] as const).map((name) => (
            <Form.Item key={name} name={name} label={labels[name]}>
              <Input maxLength={100} autoComplete="off" />
            </Form.Item>
          ))}
        </div>
        <ActionError error={change.error} />
        <May change="accounts">
          <Button htmlType="submit" loading={change.isPending}>
            {t.saveContact}
          </Button>
        </May>
      </Form>
      <Form
        hidden={!mayChange}
        name="note"
        form={noteForm}
        layout="vertical"
        onFinish={(body) => add.mutate({ body, params }, { onSuccess: () => noteForm.resetFields() })}
      >
        <Form.Item
          name="note"
          label={t.newNote}
          rules={[{ required: true, whitespace: true, message: t.noteRule }]}
        >
          <Input maxLength={maxNoteLength} />
        </Form.Item>
        <ActionError error={add.error} />
        <Button htmlType="submit" loading={add.isPending}>
          {t.addNote}
        </Button>
      </Form>
      <ul className="cards" aria-label={t.tabNotes}>
        {file.notes.map((one) => (
          <li key={one.id}>
            <span>{one.note}</span>
            <span className="muted small">
              {one.author} · <RelativeTime at={one.at} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
