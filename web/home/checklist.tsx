// The first steps of a new account, checked off by the service.
import { CheckCircleFilled, RightOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Card } from 'antd'
import type { ReactNode } from 'react'
import type { Home } from '../../contract/console/responses/home.ts'
import { useText } from '../frame/i18n.ts'
import { homeText } from './text.ts'

export function Checklist({ done }: { done: Home['checklist'] }): ReactNode {
  const t = useText(homeText)
  const steps = [
    {
      done: done.has_credits,
      title: t.stepCredits,
      text: t.stepCreditsText,
      links: [
        { go: t.goBuy, to: '/buy', search: {} },
        { go: t.stepCreditsGo, to: '/credits', search: { redeem: '1' } },
      ],
    },
    {
      done: done.has_key,
      title: t.stepKey,
      text: t.stepKeyText,
      links: [{ go: t.stepKeyGo, to: '/keys', search: {} }],
    },
    {
      done: done.has_call,
      title: t.stepCall,
      text: t.stepCallText,
      links: [{ go: t.stepCallGo, to: '/keys', search: {} }],
    },
    {
      done: done.has_success,
      title: t.stepSuccess,
      text: t.stepSuccessText,
      links: [{ go: t.stepSuccessGo, to: '/requests', search: {} }],
    },
  ]
  const next = steps.findIndex((step) => !step.done)
  return (
    <Card title={<h2>{t.startTitle}</h2>}>
      <p className="muted" style={{ marginTop: 0 }}>
        {t.startText}
      </p>
      <ol className="checklist">
        {steps.map((step, index) => (
          <li key={step.title} className={step.done ? 'done' : index === next ? 'next' : ''}>
            {step.done ? (
              <CheckCircleFilled className="tone-success" aria-label={t.stepDone} />
            ) : (
              <span className="number" aria-hidden>
                {index + 1}
              </span>
            )}
            <div>
              <strong>{step.title}</strong>
              <div className="muted">{step.text}</div>
            </div>
            {!step.done && (
              <span className="row checklist-links">
                {step.links.map(({ go, to, search }) => (
                  <Link key={to} to={to} search={search}>
                    {go} <RightOutlined />
                  </Link>
                ))}
              </span>
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}
