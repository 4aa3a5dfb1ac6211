// The most common errors: meaning, solution, and a link to the requests.
import { Link } from '@tanstack/react-router'
import { Card } from 'antd'
import type { ReactNode } from 'react'
import type { CommonError } from '../../contract/console/responses/home.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { endpointText } from '../parts/names.ts'
import { formatCount, StatusLabel } from '../parts/format.tsx'
import { homeText } from './text.ts'

interface CommonErrorsProps {
  readonly errors: readonly CommonError[]
  readonly range: { readonly range: string; readonly from: string; readonly to: string }
}

export function CommonErrors({ errors, range }: CommonErrorsProps): ReactNode {
  const t = useText(homeText)
  const pick = usePick()
  return (
    <Card size="small" title={<h2>{t.errors}</h2>}>
      {errors.length === 0 ? (
        <div style={{ minHeight: 280, display: 'grid', placeItems: 'center' }}>
          <StatusLabel tone="success">{t.noErrors}</StatusLabel>
        </div>
      ) : (
        <div tabIndex={0} role="region" aria-label={t.errors} style={{ height: 280, overflow: 'auto' }}>
          <table className="plain-table">
            <thead>
              <tr>
                <th scope="col">{t.code}</th>
                <th scope="col">{t.meaning}</th>
                <th scope="col" className="num">
                  {t.count}
                </th>
              </tr>
            </thead>
            <tbody>
              {errors.map(({ endpoint, code, count, meaning, advice }) => (
                <tr key={`${endpoint}${code}`}>
                  <td>
                    <span className="mono">{code}</span>
                    <div className="muted small">{pick(endpointText(endpoint))}</div>
                  </td>
                  <td>
                    {meaning}
                    <div className="muted">{advice}</div>
                    <Link to="/requests" search={{ ...range, endpoint, code: String(code) }}>
                      {t.seeThem}
                    </Link>
                  </td>
                  <td className="num">{formatCount(count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}
