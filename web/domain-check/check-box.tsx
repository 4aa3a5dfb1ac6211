// The form for a bulk check. It marks invalid lines while the user types and shows the price.
import { Button, Card, Checkbox, Input } from 'antd'
import { type ReactNode, useMemo, useState } from 'react'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { defaultMaxUrls } from '../../contract/domain-check.ts'
import { useMe, usePrices, useStart, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { formatCount } from '../parts/format.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { readLines } from './lines.ts'
import { domainText } from './text.ts'

const maxShownProblems = 5

export function CheckBox({ onStarted }: { onStarted: (id: number) => void }): ReactNode {
  const t = useText(domainText)
  const start = useStart()
  const me = useMe()
  const prices = usePrices()
  const [pasted, setPasted] = useState('')
  const [random, setRandom] = useState(false)
  const [drop, setDrop] = useState(true)
  const run = useApiMutation(domainCheckRoutes.start, { idempotent: true })
  const maxUrls = start.data?.domain_max_urls ?? defaultMaxUrls
  const lines = useMemo(() => readLines(pasted), [pasted])
  const invalid = lines.filter(({ isValid }) => !isValid)
  const repeated = lines.filter(({ isValid, isRepeated }) => isValid && isRepeated)
  const useless = invalid.length + repeated.length
  const checked = drop ? lines.filter(({ isValid, isRepeated }) => isValid && !isRepeated) : lines
  const tooMany = checked.length > maxUrls
  const cost = checked.length * (random ? 2 : 1) * prices.domain
  const left = me.data?.balances.find(({ api_type }) => api_type === 'domain_check')?.remaining ?? 0
  if (me.data?.read_only) return <span className="muted">{t.readOnly}</span>
  return (
    <Card size="small">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (checked.length === 0 || tooMany) return
          const body = { urls: checked.map(({ url }) => url), check_random: random }
          run.mutate({ body }, { onSuccess: ({ id }) => onStarted(id) })
        }}
      >
        {start.data?.sandbox.includes('domain_check') && <p className="muted hint">{t.sandbox}</p>}
        <Input.TextArea
          className="mono"
          aria-label={t.urls(maxUrls)}
          placeholder={`${t.urls(maxUrls)}\nexample.com\nhttps://shop.example.com/page`}
          autoSize={{ minRows: 6, maxRows: 16 }}
          value={pasted}
          status={tooMany ? 'error' : invalid.length > 0 ? 'warning' : ''}
          onChange={(event) => setPasted(event.target.value)}
        />
        <div className="row-between">
          <Checkbox checked={random} onChange={(event) => setRandom(event.target.checked)}>
            {t.random}
          </Checkbox>
          <span
            className={tooMany ? 'tone-error' : invalid.length > 0 ? 'tone-warning' : 'muted'}
            aria-live="polite"
          >
            {tooMany ? t.tooMany(maxUrls) : t.lines(lines.length - invalid.length, invalid.length)}
          </span>
        </div>
        {invalid.length > 0 && (
          <ul className="tone-warning small" style={{ margin: 0, paddingInlineStart: 20 }}>
            {invalid.slice(0, maxShownProblems).map(({ line, url }) => (
              <li key={line}>
                {t.invalidLine(line, url)} — {drop ? t.notUrlDropped : t.notUrl}
              </li>
            ))}
            {invalid.length > maxShownProblems && <li>…</li>}
          </ul>
        )}
        {useless > 0 && (
          <Checkbox checked={drop} onChange={(event) => setDrop(event.target.checked)}>
            {t.drop(repeated.length, invalid.length, formatCount(useless * (random ? 2 : 1) * prices.domain))}
          </Checkbox>
        )}
        <ActionError error={run.error} />
        <div className="form-foot">
          <span className={cost > left ? 'tone-error' : 'muted'}>
            {t.price(formatCount(cost), formatCount(left))}
          </span>
          <Button
            type="primary"
            htmlType="submit"
            loading={run.isPending}
            disabled={checked.length === 0 || tooMany}
          >
            {t.start}
          </Button>
        </div>
      </form>
    </Card>
  )
}
