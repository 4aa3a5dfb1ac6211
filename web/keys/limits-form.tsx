// The limits of a key: how they are shown, and the fields of the form that changes them.
import { Alert, Checkbox, Descriptions, Form, Input, InputNumber, Segmented } from 'antd'
import type { ReactNode } from 'react'
import type { KeyLimits } from '../../contract/console/responses/key.ts'
import { type ApiType, apiTypeNames, apiTypes, maxGrant } from '../../contract/credits.ts'
import { isScope, maxAllowedAddresses, scopeNames, scopes as allScopes } from '../../contract/scopes.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { formatCount } from '../parts/format.tsx'
import { shortTypeNames } from '../parts/names.ts'
import { limitsText } from './limits-text.ts'

type CapFields = Partial<Record<ApiType, number | null>>

export interface LimitFields {
  readonly own_scopes: boolean
  readonly scopes: readonly string[]
  /** One address or range per line. */
  readonly allow_ips: string
  readonly daily_cap: CapFields
  readonly monthly_cap: CapFields
}

export interface LimitsBody {
  readonly scopes?: string[] | null
  readonly allow_ips?: string[] | null
  readonly daily_cap?: Partial<Record<ApiType, number>> | null
  readonly monthly_cap?: Partial<Record<ApiType, number>> | null
}

export function limitFieldsOf({ scopes, allow_ips, usage }: KeyLimits): LimitFields {
  const caps = (period: 'daily_cap' | 'monthly_cap') =>
    Object.fromEntries(usage.map((one) => [one.api_type, one[period]])) as CapFields
  return {
    own_scopes: scopes !== null,
    scopes: scopes ?? [],
    allow_ips: (allow_ips ?? []).join('\n'),
    daily_cap: caps('daily_cap'),
    monthly_cap: caps('monthly_cap'),
  }
}

/** Only what differs, so that two people do not overwrite each other's changes. */
export function changedLimits(before: LimitFields, after: LimitFields): LimitsBody {
  const from = bodyOf(before)
  const to = bodyOf(after)
  const differs = (name: keyof LimitsBody) => JSON.stringify(from[name]) !== JSON.stringify(to[name])
  return {
    ...(differs('scopes') && { scopes: to.scopes }),
    ...(differs('allow_ips') && { allow_ips: to.allow_ips }),
    ...(differs('daily_cap') && { daily_cap: to.daily_cap }),
    ...(differs('monthly_cap') && { monthly_cap: to.monthly_cap }),
  }
}

function bodyOf(fields: LimitFields): Required<LimitsBody> {
  const lines = (fields.allow_ips ?? '').split(/[\s,，]+/).filter((line) => line !== '')
  return {
    // In the order of the contract, so that a different order of clicks is not a change.
    scopes: fields.own_scopes ? allScopes.filter((scope) => fields.scopes?.includes(scope)) : null,
    allow_ips: lines.length === 0 ? null : lines,
    daily_cap: capsOf(fields.daily_cap),
    monthly_cap: capsOf(fields.monthly_cap),
  }
}

function capsOf(fields: CapFields | undefined): Partial<Record<ApiType, number>> | null {
  const given = apiTypes.flatMap((type) => {
    const cap = fields?.[type]
    return typeof cap === 'number' ? [[type, cap] as const] : []
  })
  return given.length === 0 ? null : (Object.fromEntries(given) as Partial<Record<ApiType, number>>)
}

export function LimitsView({ limits }: { limits: KeyLimits }): ReactNode {
  const t = useText(limitsText)
  const pick = usePick()
  const ratio = (used: number, cap: number | null) =>
    `${formatCount(used)} / ${cap === null ? '–' : formatCount(cap)}`
  const tone = (used: number, cap: number | null) =>
    cap !== null && used >= cap
      ? 'num tone-error'
      : cap !== null && used >= cap * 0.8
        ? 'num tone-warning'
        : 'num'
  return (
    <div className="stack">
      <Descriptions
        column={1}
        items={[
          {
            key: 'scopes',
            label: t.scopes,
            children:
              limits.scopes === null
                ? t.allScopes
                : limits.scopes
                    .map((scope) => (isScope(scope) ? `${pick(scopeNames[scope])} (${scope})` : scope))
                    .join(', '),
          },
          {
            key: 'addresses',
            label: t.addresses,
            children:
              limits.allow_ips === null ? (
                t.anyAddress
              ) : (
                <span className="mono" style={{ overflowWrap: 'anywhere' }}>
                  {limits.allow_ips.join(', ')}
                </span>
              ),
          },
        ]}
      />
      <table className="plain-table wraps">
        <thead>
          <tr>
            <th scope="col">{t.product}</th>
            <th scope="col" className="num">
              {t.today}
            </th>
            <th scope="col" className="num">
              {t.month}
            </th>
          </tr>
        </thead>
        <tbody>
          {limits.usage.map((one) => (
            <tr key={one.api_type}>
              <th scope="row">{pick(shortTypeNames[one.api_type])}</th>
              <td className={tone(one.used_today, one.daily_cap)}>{ratio(one.used_today, one.daily_cap)}</td>
              <td className={tone(one.used_this_month, one.monthly_cap)}>
                {ratio(one.used_this_month, one.monthly_cap)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface LimitsFieldsProps {
  readonly usage: KeyLimits['usage']
  /** The address of the reader, for account holders. */
  readonly address?: string | undefined
  /** The service found that the list does not contain the reader's address. */
  readonly excludesReader?: boolean
}

/** The fields of a form with `LimitFields`. */
export function LimitsFields({ usage, address, excludesReader = false }: LimitsFieldsProps): ReactNode {
  const t = useText(limitsText)
  const pick = usePick()
  const hasScopes = Form.useWatch<boolean | undefined>('own_scopes') === true
  return (
    <>
      <Form.Item name="own_scopes" label={t.scopes} extra={t.scopesText}>
        <Segmented
          options={[
            { value: false, label: t.allScopes },
            { value: true, label: t.onlyScopes },
          ]}
        />
      </Form.Item>
      {hasScopes && (
        <Form.Item
          name="scopes"
          // A required rule would put aria-required on the group, which may not have it.
          rules={[
            {
              validator: async (_rule, value: readonly string[] | undefined) => {
                if ((value ?? []).length === 0) throw new Error(t.scopesNeeded)
              },
            },
          ]}
        >
          <Checkbox.Group
            aria-label={t.scopes}
            className="stack-8"
            options={allScopes.map((value) => ({
              value,
              label: (
                <span>
                  {pick(scopeNames[value])} <span className="mono small muted">{value}</span>
                </span>
              ),
            }))}
          />
        </Form.Item>
      )}
      <Form.Item
        name="allow_ips"
        label={t.addresses}
        extra={
          address === undefined
            ? t.addressesText(maxAllowedAddresses)
            : `${t.addressesText(maxAllowedAddresses)} ${t.yourAddress(address)}`
        }
      >
        <Input.TextArea className="mono" autoSize={{ minRows: 2, maxRows: 8 }} spellCheck={false} />
      </Form.Item>
      {excludesReader && <Alert type="warning" showIcon title={t.excluded} style={{ marginBottom: 16 }} />}
      <fieldset className="plain-fieldset">
        <legend>{t.caps}</legend>
        <p className="muted small" style={{ marginTop: 0 }}>
          {t.capsText}
        </p>
        <div className="grid-half">
          {usage.map(({ api_type: type, used_today, used_this_month }) => {
            const name = pick(apiTypeNames[type])
            return [
              <CapField
                key={`${type} day`}
                name={['daily_cap', type]}
                label={t.daily(name)}
                extra={t.usedToday(formatCount(used_today))}
              />,
              <CapField
                key={`${type} month`}
                name={['monthly_cap', type]}
                label={t.monthly(name)}
                extra={t.usedMonth(formatCount(used_this_month))}
              />,
            ]
          })}
        </div>
      </fieldset>
    </>
  )
}

function CapField({ name, label, extra }: { name: string[]; label: string; extra: string }): ReactNode {
  const t = useText(limitsText)
  return (
    <Form.Item name={name} label={label} extra={extra}>
      <InputNumber min={0} max={maxGrant} precision={0} placeholder={t.noCap} style={{ width: '100%' }} />
    </Form.Item>
  )
}
