// Code that verifies the signature of a webhook, in the languages of our users.
import { Card, Segmented } from 'antd'
import { type ReactNode, useState } from 'react'
import { verifySampleLanguages, verifySamples } from '../../contract/webhook-samples.ts'
import { useText } from '../frame/i18n.ts'
import { CopyButton } from '../parts/copy.tsx'
import { eventsText } from './text.ts'

export function VerifyCard(): ReactNode {
  const t = useText(eventsText)
  const [language, setLanguage] = useState<(typeof verifySampleLanguages)[number]>('PHP')
  const code = verifySamples[language]
  return (
    <Card title={<h2>{t.verify}</h2>}>
      <div className="stack">
        <span>{t.verifyText}</span>
        <div className="row-between">
          <div className="scroll-x">
            <Segmented
              aria-label={t.language}
              value={language}
              onChange={setLanguage}
              options={[...verifySampleLanguages]}
            />
          </div>
          <CopyButton text={code} label={t.verify}>
            {t.copyCode}
          </CopyButton>
        </div>
        <pre className="code" tabIndex={0} aria-label={t.verify}>
          {code}
        </pre>
      </div>
    </Card>
  )
}
