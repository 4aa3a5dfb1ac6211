// The stop list: numbers that get no more messages.
import { PlusOutlined } from '@ant-design/icons'
import { App, Button, Card, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { smsRoutes } from '../../contract/console/sms.ts'
import type { Stop } from '../../contract/console/responses/sms.ts'
import { signName } from '../../contract/sms-parameters.ts'
import { useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ConfirmItem } from '../parts/confirm.tsx'
import { SearchFilter } from '../parts/filters.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { RelativeTime } from '../parts/format.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { signaturesText } from './signatures-text.ts'

const defaults = { phone: '', before: '' }

interface StopFields {
  readonly phone_number: string
  readonly sign_name?: string
}

export function Stops(): ReactNode {
  const t = useText(signaturesText)
  const me = useMe()
  const { message } = App.useApp()
  const [form] = Form.useForm<StopFields>()
  const [params, setParams] = useUrlState(defaults)
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Stop>()
  const add = useApiMutation(smsRoutes.addStop)
  const remove = useApiMutation(smsRoutes.removeStop)
  const canChange = me.data?.read_only === false
  const stops = useApiQuery(smsRoutes.stops, {
    ...(params.phone === '' ? {} : { phone_number: params.phone }),
    ...cursorQuery(params.before),
  })
  return (
    <>
      <div className="filters">
        <SearchFilter
          label={t.searchPhone}
          value={params.phone}
          width={240}
          onSearch={(phone) => setParams({ phone, before: '' })}
        />
        {canChange && (
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setAdding(true)}>
            {t.addStop}
          </Button>
        )}
        <span className="muted">{t.stopsLead}</span>
      </div>
      <Card size="small">
        <List<Stop, NonNullable<typeof stops.data>>
          query={stops}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.stops}
          empty={{ text: t.emptyStops }}
          onClear={params.phone === '' ? undefined : () => setParams(defaults)}
          columns={[
            {
              title: t.phone,
              render: (_value, { phone_number }) => <span className="mono">{phone_number}</span>,
            },
            { title: t.signName, render: (_value, { sign_name }) => sign_name || t.allSignatures },
            { title: t.source, render: (_value, { source }) => t[source] },
            { title: t.since, render: (_value, { created_at }) => <RelativeTime at={created_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, stop) =>
                canChange && (
                  <Button size="small" onClick={() => setRemoving(stop)}>
                    {t.remove}
                  </Button>
                ),
            },
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
      <FormDialog<StopFields>
        open={isAdding}
        title={t.addStop}
        ok={t.add}
        danger={false}
        form={form}
        onClose={() => setAdding(false)}
        onSubmit={async ({ phone_number, sign_name }) => {
          await add.mutateAsync({ body: { phone_number, ...(sign_name ? { sign_name } : {}) } })
          message.success(t.added)
        }}
      >
        <Form.Item
          name="phone_number"
          label={t.phone}
          rules={[{ required: true, whitespace: true, message: t.required }]}
        >
          <Input inputMode="tel" maxLength={20} />
        </Form.Item>
        <Form.Item name="sign_name" label={t.signName} extra={t.signHint}>
          <Input maxLength={signName.maxLength} />
        </Form.Item>
      </FormDialog>
      <ConfirmItem
        item={removing}
        danger
        title={t.removeTitle}
        consequence={({ phone_number }) => t.removeText(phone_number)}
        ok={t.remove}
        done={t.removed}
        onClose={() => setRemoving(undefined)}
        onConfirm={({ id }) => remove.mutateAsync({ body: {}, params: { id } })}
      />
    </>
  )
}
