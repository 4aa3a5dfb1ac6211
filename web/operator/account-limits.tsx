// The limits and prices of an account for operators, as the flags of `account set` change them.
import { App, Button, Card, Form, InputNumber } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { AccountDetail } from '../../contract/console/responses/operator.ts'
import { maxPrice, type PriceName, priceNames, priceTexts } from '../../contract/credits.ts'
import { useApiMutation, useStart } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { useMay } from '../frame/rights.tsx'
import {
  changedLimits,
  type LimitFields,
  limitFieldsOf,
  LimitsFields,
  LimitsView,
} from '../keys/limits-form.tsx'
import { limitsText } from '../keys/limits-text.ts'
import { formatCount } from '../parts/format.tsx'
import { partsText } from '../parts/text.ts'
import { OperatorForm } from './operator-form.tsx'

export function LimitsTab({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(limitsText)
  const mayChange = useMay('accounts')
  const [action, setAction] = useState<'limits' | 'prices'>()
  const close = () => setAction(undefined)
  return (
    <div className="grid-2">
      <Card
        size="small"
        title={<h2>{t.title}</h2>}
        extra={mayChange && <Button onClick={() => setAction('limits')}>{t.change}</Button>}
      >
        <LimitsView limits={account.limits} />
      </Card>
      <Card
        size="small"
        title={<h2>{t.prices}</h2>}
        extra={mayChange && <Button onClick={() => setAction('prices')}>{t.changePrices}</Button>}
      >
        <PricesView account={account} />
      </Card>
      {action === 'limits' && <ChangeLimits account={account} onClose={close} />}
      {action === 'prices' && <ChangePrices account={account} onClose={close} />}
    </div>
  )
}

function PricesView({ account: { own_prices: own } }: { account: AccountDetail }): ReactNode {
  const t = useText(limitsText)
  const pick = usePick()
  const platform = useStart().data?.prices
  return (
    <table className="plain-table wraps">
      <thead>
        <tr>
          <th scope="col">{t.prices}</th>
          <th scope="col" className="num">
            {t.platformPrice}
          </th>
          <th scope="col" className="num">
            {t.ownPrice}
          </th>
        </tr>
      </thead>
      <tbody>
        {priceNames.map((name) => (
          <tr key={name}>
            <th scope="row">
              {pick(priceTexts[name])} <span className="mono small muted">{name}</span>
            </th>
            <td className="num">{platform ? formatCount(platform[name]) : '–'}</td>
            <td className="num">{own?.[name] === undefined ? '–' : formatCount(own[name])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface ChangeProps {
  readonly account: AccountDetail
  readonly onClose: () => void
}

function ChangeLimits({ account, onClose }: ChangeProps): ReactNode {
  const t = useText(limitsText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<LimitFields & { note: string }>()
  const change = useApiMutation(operatorRoutes.changeAccount)
  // What the operator began with: a refetch must not change what is compared.
  const [before] = useState(() => limitFieldsOf(account.limits))
  return (
    <OperatorForm<LimitFields>
      open
      title={`${t.change} · ${account.username}`}
      ok={common.save}
      form={form}
      initial={before}
      onClose={onClose}
      onSubmit={async ({ note, ...fields }) => {
        await change.mutateAsync({
          body: { note, ...changedLimits(before, fields) },
          params: { id: account.id },
        })
        message.success(t.saved)
      }}
    >
      <LimitsFields usage={account.limits.usage} />
    </OperatorForm>
  )
}

type PriceFields = Partial<Record<PriceName, number | null>>

function ChangePrices({ account, onClose }: ChangeProps): ReactNode {
  const t = useText(limitsText)
  const common = useText(partsText)
  const pick = usePick()
  const { message } = App.useApp()
  const platform = useStart().data?.prices
  const [form] = Form.useForm<{ prices: PriceFields; note: string }>()
  const change = useApiMutation(operatorRoutes.changeAccount)
  // What the operator began with: a refetch must not change what is compared.
  const [before] = useState(() => account.own_prices)
  return (
    <OperatorForm<{ prices: PriceFields }>
      open
      title={`${t.changePrices} · ${account.username}`}
      ok={common.save}
      form={form}
      initial={{ prices: before ?? {} }}
      onClose={onClose}
      onSubmit={async ({ note, prices }) => {
        const given = priceNames.flatMap((name) =>
          typeof prices[name] === 'number' ? [[name, prices[name]] as const] : [],
        )
        const own = Object.fromEntries(given) as Partial<Record<PriceName, number>>
        const isSame = priceNames.every((name) => own[name] === before?.[name])
        const changed = { prices: given.length === 0 ? null : own, prices_before: before }
        await change.mutateAsync({
          body: { note, ...(!isSame && changed) },
          params: { id: account.id },
        })
        message.success(t.saved)
      }}
    >
      <p className="muted small" style={{ marginTop: 0 }}>
        {t.pricesText}
      </p>
      <div className="grid-half">
        {priceNames.map((name) => (
          <Form.Item key={name} name={['prices', name]} label={pick(priceTexts[name])}>
            <InputNumber
              min={0}
              max={maxPrice}
              precision={0}
              placeholder={platform ? formatCount(platform[name]) : ''}
              style={{ width: '100%' }}
            />
          </Form.Item>
        ))}
      </div>
    </OperatorForm>
  )
}
