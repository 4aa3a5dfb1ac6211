// What visitors of a link will get: its address, where it leads, and its card.
import { Card } from 'antd'
import type { ReactNode } from 'react'
import type { LinkDetail } from '../../contract/console/responses/shortlink.ts'
import { sampleCode } from '../../contract/link-qr.ts'
import { shortCodePattern } from '../../contract/shortlink.ts'
import { useMe } from '../api/hooks.ts'
import { useLanguage, useText } from '../frame/i18n.ts'
import { Copyable } from '../parts/copy.tsx'
import { BreakableUrl, formatCount } from '../parts/format.tsx'
import { builderText } from './builder-text.ts'
import { readMoment } from '../parts/moment.ts'
import type { LinkValues } from './link-form.ts'
import { DesignQr } from './design-qr.tsx'
import { plainDesign, useQrDesign, useQrPicture } from './qr-design.ts'
import { Qr, QrPreview } from './qr.tsx'
import { describeConditions } from './rule-names.ts'

interface LinkPreviewProps {
  readonly values: LinkValues
  /** The stored link, if there is one. */
  readonly link: LinkDetail | undefined
}

export function LinkPreview({ values, link }: LinkPreviewProps): ReactNode {
  const t = useText(builderText)
  const host = hostOf(values.target_url)
  return (
    <Card size="small" title={<h2>{t.preview}</h2>} className="beside">
      <div className="stack" data-testid="link-preview">
        <div>
          <strong>{values.title.trim() || host || t.noTarget}</strong>
          <div>
            {link ? (
              <Copyable text={link.a_url} label={t.address} />
            ) : (
              <span className="mono">
                {values.domain === '' ? t.platformDomain : values.domain}/
                {values.short_code.trim() || t.generated}
              </span>
            )}
          </div>
        </div>
        <section>
          <h3>{t.summary}</h3>
          <Summary values={values} />
        </section>
        <section className="stack-8">
          <h3>{t.card}</h3>
          <div className="chat-card">
            <strong className="clip">{values.title.trim() || host || t.noTarget}</strong>
            <span className="muted small clip">{host || t.noTarget}</span>
          </div>
          <span className="muted small">{t.cardHint}</span>
        </section>
        {link ? <LinkQr link={link} /> : <NewQr values={values} />}
      </div>
    </Card>
  )
}

function LinkQr({ link }: { link: LinkDetail }): ReactNode {
  return (
    <div className="stack-8">
      <Qr url={link.a_url} name={link.title} />
      <div>
        <DesignQr target={{ id: link.id }} />
      </div>
    </div>
  )
}

/** A generated code is not known yet. Every code works on the address of the platform, whichever domain the link gets. */
function NewQr({ values: { domain, short_code } }: Pick<LinkPreviewProps, 'values'>): ReactNode {
  const t = useText(builderText)
  const me = useMe()
  const [design] = useQrDesign()
  const code = short_code.trim()
  const isKnown = codePattern.test(code)
  const { protocol, host } = window.location
  const url = `${protocol}//${domain || host}/${isKnown ? code : sampleCode}`
  const { picture } = useQrPicture({ url }, design, design !== plainDesign)
  return (
    <section className="stack-8">
      <h3>{t.qr}</h3>
      <div className="qr-sample">
        {picture !== '' && design !== plainDesign ? (
          <img src={picture} alt={t.qrDesigned} width={140} height={140} />
        ) : (
          <QrPreview url={url} />
        )}
        {!isKnown && <span className="qr-sample-mark">{t.qrSample}</span>}
      </div>
      <span className="muted small">{isKnown ? t.qrLater : t.qrGenerated}</span>
      {me.data?.read_only === false && (
        <div>
          <DesignQr target={{ url }} />
        </div>
      )}
    </section>
  )
}

const codePattern = new RegExp(shortCodePattern)

function Summary({ values }: { values: LinkValues }): ReactNode {
  const t = useText(builderText)
  const language = useLanguage()
  const target = values.target_url.trim() || t.noTarget
  const rules = values.rules.flatMap((rule) => {
    const condition = describeConditions(rule, language)
    return condition === '' ? [] : [t.leadsTo(condition, rule.target_url.trim() || '…')]
  })
  const rest = rules.length === 0 ? t.all : t.otherwise
  const addressA = values.redirect_url_a.trim()
  const endsAt = readMoment(values.expires_at)
  const ends = endsAt !== undefined || values.max_clicks !== null
  const lines = [
    ...(values.password !== '' || values.keeps_password ? [t.asksPassword] : []),
    ...(values.redirect_type === 'page' ? [t.showsPage] : []),
    ...rules,
    ...(addressA === ''
      ? [t.leadsTo(rest, target)]
      : [t.leadsTo(t.onA(rest), addressA), t.leadsTo(t.onB(rest), target)]),
    ...(endsAt === undefined ? [] : [t.endsAt(endsAt)]),
    ...(values.max_clicks === null ? [] : [t.endsAfter(formatCount(values.max_clicks))]),
    ...(ends ? [values.expired_url.trim() === '' ? t.thenGone : t.thenLeads(values.expired_url.trim())] : []),
  ]
  return (
    <ol className="summary">
      {lines.map((line, index) => (
        <li key={index}>
          <BreakableUrl url={line} />
        </li>
      ))}
    </ol>
  )
}

function hostOf(target: string): string {
  return URL.parse(target.trim())?.host ?? ''
}
