// What operators keep about an account: contact details and notes.
import { App, Button, Card, Empty, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { maxContactLength, maxNoteLength } from '../../contract/console/limits.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { AccountFile } from '../../contract/console/responses/operator.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { May, useMay } from '../frame/rights.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { ExactTime } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { accountText } from './account-text.ts'
import { operatorText } from './text.ts'

interface FileProps {
  readonly id: number
}

export function ContactCard({ id }: FileProps): ReactNode {
  const t = useText(accountText)
  const file = useApiQuery(operatorRoutes.file, {}, { params: { id } })
  return (
    <Card size="small" title={<h2>{t.contact}</h2>}>
      <Loaded query={file}>{({ contact }) => <ContactForm id={id} contact={contact} />}</Loaded>
    </Card>
  )
}

function ContactForm({ id, contact }: FileProps & Pick<AccountFile, 'contact'>): ReactNode {
  const t = useText(accountText)
  const common = useText(operatorText)
  const { message } = App.useApp()
  const change = useApiMutation(operatorRoutes.changeContact)
  const mayChange = useMay('accounts')
  const labels = {
    company: t.contactCompany,
    name: t.contactName,
    phone: t.contactPhone,
    mail: t.contactMail,
  }
  return (
    <Form
      name="contact"
      layout="vertical"
      initialValues={contact}
      disabled={!mayChange}
      onFinish={(body: AccountFile['contact']) =>
        change.mutate({ body, params: { id } }, { onSuccess: () => void message.success(common.saved) })
      }
    >
      <div className="field-pairs">
        {(['company', 'name', 'phone', 'mail'] as const).map((name) => (
          <Form.Item key={name} name={name} label={labels[name]}>
            <Input maxLength={maxContactLength} autoComplete="off" />
          </Form.Item>
        ))}
      </div>
      <div className="stack">
        <ActionError error={change.error} />
        <May change="accounts">
          <div>
            <Button htmlType="submit" loading={change.isPending}>
              {t.saveContact}
            </Button>
          </div>
        </May>
      </div>
    </Form>
  )
}

export function NotesTab({ id }: FileProps): ReactNode {
  const t = useText(accountText)
  const file = useApiQuery(operatorRoutes.file, {}, { params: { id } })
  return (
    <Card size="small" title={<h2>{t.tabNotes}</h2>}>
      <Loaded query={file}>
        {({ notes }) => (
          <div className="stack">
            <May change="accounts">
              <NoteForm id={id} />
            </May>
            {notes.length === 0 ? (
              <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.noNotes} />
            ) : (
              <ul className="cards" aria-label={t.tabNotes}>
                {notes.map((one) => (
                  <li key={one.id}>
                    <span className="prose">{one.note}</span>
                    <span className="muted small">
                      {one.author} · <ExactTime at={one.at} />
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
      </Loaded>
    </Card>
  )
}

function NoteForm({ id }: FileProps): ReactNode {
  const t = useText(accountText)
  const [form] = Form.useForm<{ note: string }>()
  const add = useApiMutation(operatorRoutes.addNote)
  return (
    <Form
      name="note"
      form={form}
      layout="vertical"
      onFinish={(body) => add.mutate({ body, params: { id } }, { onSuccess: () => form.resetFields() })}
    >
      <Form.Item
        name="note"
        label={t.newNote}
        rules={[{ required: true, whitespace: true, message: t.noteRule }]}
      >
        <Input maxLength={maxNoteLength} autoComplete="off" />
      </Form.Item>
      <div className="stack">
        <ActionError error={add.error} />
        <div>
          <Button htmlType="submit" loading={add.isPending}>
            {t.addNote}
          </Button>
        </div>
      </div>
    </Form>
  )
}
