// Buying: the packages, and the order that a purchase opens.
import { Alert, Button, Card, Radio } from 'antd'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { paymentRoutes } from '../../contract/console/payments.ts'
import { type PaymentProviderName, paymentProviderNames } from '../../contract/payments.ts'
import { useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { formatMoney } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { CreditList } from './parts.tsx'
import { paymentsText } from './text.ts'

export function BuyPage(): ReactNode {
  const t = useText(paymentsText)
  const pick = usePick()
  const me = useMe()
  const navigate = useNavigate()
  const packages = useApiQuery(paymentRoutes.packages, {})
  const create = useApiMutation(paymentRoutes.createOrder)
  const [chosen, setChosen] = useState<PaymentProviderName>()
  return (
    <Page title={t.buy} lead={t.buyLead}>
      <ActionError error={create.error} />
      <Loaded query={packages}>
        {({ items, providers }) => {
          const provider = chosen ?? providers[0]
          if (items.length === 0 || provider === undefined) {
            return (
              <Alert
                type="info"
                showIcon
                title={items.length === 0 ? t.noPackages : t.noProviders}
                action={
                  <Link to="/credits" search={{ redeem: '1' }}>
                    {t.redeem}
                  </Link>
                }
              />
            )
          }
          return (
            <div className="stack">
              <div className="row">
                <span>{t.payWith}</span>
                <Radio.Group
                  aria-label={t.payWith}
                  value={provider}
                  onChange={(event) => setChosen(event.target.value as PaymentProviderName)}
                  options={providers.map((value) => ({ value, label: pick(paymentProviderNames[value]) }))}
                />
              </div>
              <div className="grid-4">
                {items.map((item) => (
                  <Card key={item.code} size="small" title={<h2>{item.name}</h2>}>
                    <div className="figure">{formatMoney(item.price, item.currency)}</div>
                    <CreditList credits={item.credits} />
                    <Button
                      type="primary"
                      block
                      style={{ marginTop: 12 }}
                      aria-label={`${t.buyNow} ${item.name}`}
                      disabled={me.data?.read_only !== false}
                      loading={create.isPending && create.variables.body.package === item.code}
                      onClick={() =>
                        create.mutate(
                          { body: { package: item.code, provider } },
                          {
                            onSuccess: ({ number }) =>
                              void navigate({ to: '/orders', search: { open: number } }),
                          },
                        )
                      }
                    >
                      {t.buyNow}
                    </Button>
                  </Card>
                ))}
              </div>
            </div>
          )
        }}
      </Loaded>
    </Page>
  )
}
