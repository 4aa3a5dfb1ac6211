// The limits of the account's own key, with the dialog that changes them.
import { App, Button, Card, Form } from 'antd'
import { type ReactNode, useState } from 'react'
import { keyRoutes } from '../../contract/console/key.ts'
import type { KeyLimits } from '../../contract/console/responses/key.ts'
import { ApiError } from '../api/client.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { partsText } from '../parts/text.ts'
import { changedLimits, type LimitFields, limitFieldsOf, LimitsFields, LimitsView } from './limits-form.tsx'
import { limitsText } from './limits-text.ts'

export function LimitsCard({ readOnly }: { readOnly: boolean }): ReactNode {
  const t = useText(limitsText)
  const limits = useApiQuery(keyRoutes.limits, {})
  const [changing, setChanging] = useState(false)
  return (
    <Card
      title={<h2>{t.title}</h2>}
      extra={!readOnly && limits.data && <Button onClick={() => setChanging(true)}>{t.change}</Button>}
    >
      <div className="stack">
        <span className="muted">{t.lead}</span>
        <Loaded query={limits}>{(data) => <LimitsView limits={data} />}</Loaded>
      </div>
      {limits.data && changing && (
        <ChangeLimits limits={limits.data} address={limits.data.address} onClose={() => setChanging(false)} />
      )}
    </Card>
  )
}

interface ChangeLimitsProps {
  readonly limits: KeyLimits
  readonly address: string
  readonly onClose: () => void
}

function ChangeLimits({ limits, address, onClose }: ChangeLimitsProps): ReactNode {
  const t = useText(limitsText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<LimitFields>()
  const change = useApiMutation(keyRoutes.changeLimits)
  // What the user began with: a refetch must not change what is compared.
  const [before] = useState(() => limitFieldsOf(limits))
  // The list that the service warned about; the warning ends when the list changes.
  const [warnedList, setWarnedList] = useState<string>()
  const list = Form.useWatch('allow_ips', form)
  const isWarned = warnedList !== undefined && warnedList === list
  return (
    <FormDialog<LimitFields>
      open
      title={t.change}
      ok={isWarned ? t.saveAnyway : common.save}
      danger={isWarned}
      form={form}
      initial={before}
      onClose={onClose}
      onSubmit={async (fields) => {
        const body = { ...changedLimits(before, fields), excludes_own_address: isWarned }
        try {
          await change.mutateAsync({ body })
        } catch (error) {
          if (error instanceof ApiError && error.code === 'conflict') setWarnedList(fields.allow_ips)
          throw error
        }
        message.success(t.saved)
      }}
    >
      <LimitsFields usage={limits.usage} address={address} excludesReader={isWarned} />
    </FormDialog>
  )
}
