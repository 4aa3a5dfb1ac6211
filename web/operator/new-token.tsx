// The dialog that creates an operator token, and the one that shows it once.
import { Alert, Button, Form, Input, Modal, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { maxTokenNameLength, operatorAdminRoutes } from '../../contract/console/operators.ts'
import {
  type Access,
  mayAccess,
  operatorAreas,
  type OperatorRole,
  operatorRoles,
  roleTexts,
  type TokenArea,
  tokenAreas,
  type TokenScope,
} from '../../contract/console/roles.ts'
import { formatDay } from '../../contract/time.ts'
import { useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { useOperatorRole } from '../frame/rights.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { LeaveGuard } from '../parts/leave-guard.tsx'
import { partsText } from '../parts/text.ts'
import { OperatorForm } from './operator-form.tsx'
import { tokensText } from './tokens-text.ts'

/** The access to each area; an area that is left out cannot be accessed. */
type AreaFields = Partial<Record<TokenArea, Access | ''>>

interface TokenFields {
  readonly name: string
  readonly areas: AreaFields
  readonly expires_on?: string
  /** Shows problems that the service finds with the scopes. */
  readonly scopes?: undefined
}

export function NewTokenModal({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useText(tokensText)
  const common = useText(partsText)
  const pick = usePick()
  const [form] = Form.useForm<TokenFields & { note: string }>()
  const create = useApiMutation(operatorAdminRoutes.createToken)
  const [secret, setSecret] = useState<string>()
  const own = useOperatorRole() ?? 'auditor'
  const choices = (area: TokenArea) =>
    (['', 'read', 'write'] as const)
      .filter((access) => access === '' || mayAccess(own, area, access))
      .map((value) => ({ value, label: value === '' ? t.none : t[value] }))
  return (
    <>
      <OperatorForm<TokenFields>
        open={open}
        title={t.create}
        ok={t.create}
        form={form}
        initial={{ areas: areasOf(undefined) }}
        onClose={onClose}
        onSubmit={async ({ name, areas, expires_on, note }) => {
          const body = { name, note, scopes: scopesOf(areas), ...(expires_on ? { expires_on } : {}) }
          const created = await create.mutateAsync({ body })
          setSecret(created.secret)
        }}
      >
        <Form.Item
          name="name"
          label={t.name}
          extra={t.nameHint}
          rules={[{ required: true, whitespace: true, message: common.required }]}
        >
          <Input autoComplete="off" maxLength={maxTokenNameLength} />
        </Form.Item>
        <Form.Item name="expires_on" label={t.expires} extra={t.expiresHint}>
          <Input type="date" min={formatDay(Date.now())} />
        </Form.Item>
        <fieldset className="plain-fieldset">
          <legend>{t.scopes}</legend>
          <div className="row" style={{ marginBottom: 12 }}>
            <span className="muted small">{t.presets}</span>
            {operatorRoles.map((role) => (
              <Button key={role} size="small" onClick={() => form.setFieldValue('areas', areasOf(role))}>
                {pick(roleTexts[role].name)}
              </Button>
            ))}
            <Button size="small" onClick={() => form.setFieldValue('areas', areasOf(undefined))}>
              {t.clear}
            </Button>
          </div>
          <div className="grid-half">
            {tokenAreas.map((area) => (
              <Form.Item key={area} name={['areas', area]} label={pick(operatorAreas[area].text)}>
                <Select options={choices(area)} />
              </Form.Item>
            ))}
          </div>
          <Form.Item
            name="scopes"
            dependencies={['areas']}
            rules={[
              {
                validator: async () => {
                  const areas = form.getFieldValue('areas') as AreaFields
                  if (scopesOf(areas).length === 0) throw new Error(t.scopesNeeded)
                },
              },
            ]}
          >
            <ChosenScopes />
          </Form.Item>
        </fieldset>
      </OperatorForm>
      {secret !== undefined && <NewTokenDialog secret={secret} onSaved={() => setSecret(undefined)} />}
    </>
  )
}

/** The scopes as the document of the API names them. */
function ChosenScopes(): ReactNode {
  const areas = Form.useWatch<AreaFields | undefined>('areas') ?? {}
  return <span className="mono small muted">{scopesOf(areas).join(', ') || '–'}</span>
}

/** What a role may do at most, area by area. */
function areasOf(role: OperatorRole | undefined): AreaFields {
  const accessOf = (area: TokenArea): Access | '' => {
    if (role === undefined || !mayAccess(role, area, 'read')) return ''
    return mayAccess(role, area, 'write') ? 'write' : 'read'
  }
  return Object.fromEntries(tokenAreas.map((area) => [area, accessOf(area)])) as AreaFields
}

function scopesOf(areas: AreaFields): TokenScope[] {
  return tokenAreas.flatMap((area): TokenScope[] => {
    const access = areas[area]
    return access === 'read' || access === 'write' ? [`${area}:${access}`] : []
  })
}

/** Closes only when the operator says that the token is saved, and asks before the page is left. */
function NewTokenDialog({ secret, onSaved }: { secret: string; onSaved: () => void }): ReactNode {
  const t = useText(tokensText)
  return (
    <>
      <Modal
        open
        title={t.once}
        closable={false}
        keyboard={false}
        mask={{ closable: false }}
        footer={<Button onClick={onSaved}>{t.savedIt}</Button>}
      >
        <div className="stack">
          <Alert type="warning" showIcon title={t.onceText} />
          <div className="key-box" data-testid="fresh-token">
            {secret}
          </div>
          <div className="row">
            <CopyButton text={secret} label={t.hint} primary>
              {t.copy}
            </CopyButton>
          </div>
        </div>
      </Modal>
      <LeaveGuard title={t.leaveTitle} text={t.leaveText} />
    </>
  )
}
