// The results of one check: progress, a filter by verdict and an export.
import { Card, Progress, Segmented } from 'antd'
import { type ReactNode, useState } from 'react'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import type { DomainResult } from '../../contract/console/responses/domain-check.ts'
import { checkResults } from '../../contract/domain-check.ts'
import { isUncertain } from '../api/client.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { BreakableUrl, formatCount, StatusLabel } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { domainText } from './text.ts'
import { Verdict } from './verdict.tsx'

export function RunResults({ id }: { id: string }): ReactNode {
  const t = useText(domainText)
  const [verdict, setVerdict] = useState('all')
  const [running, setRunning] = useState(true)
  const run = useApiQuery(domainCheckRoutes.run, {}, { params: { id }, refetchMs: running ? 700 : false })
  const state = run.data?.state
  // The check runs on the server, so a lost connection does not stop the polling.
  const isRejected = run.isError && !isUncertain(run.error)
  if (running && (isRejected || (state !== undefined && state !== 'running'))) setRunning(false)
  return (
    <Card
      size="small"
      title={
        <h2>
          {run.data && (
            <StatusLabel tone={state === 'failed' ? 'error' : state === 'done' ? 'success' : 'pending'}>
              {state === 'failed' ? t.failed : state === 'done' ? t.done : t.running}
            </StatusLabel>
          )}
        </h2>
      }
      extra={<ExportLink route={domainCheckRoutes.runCsv} filter={{}} params={{ id }} />}
    >
      {run.data && (
        <div className="stack" style={{ marginBottom: 16 }}>
          <Progress
            percent={run.data.total === 0 ? 0 : Math.floor((run.data.done / run.data.total) * 100)}
            format={() => t.progress(formatCount(run.data.done), formatCount(run.data.total))}
            aria-label={t.progress(formatCount(run.data.done), formatCount(run.data.total))}
          />
          <div className="scroll-x">
            <Segmented
              aria-label={t.verdict}
              value={verdict}
              onChange={setVerdict}
              options={[
                { value: 'all', label: `${t.all} ${formatCount(run.data.total)}` },
                ...Object.values(checkResults).map((value) => ({
                  value: value as string,
                  label: `${t[value]} ${formatCount(run.data.counts[value])}`,
                })),
              ]}
            />
          </div>
        </div>
      )}
      <List<DomainResult, NonNullable<typeof run.data>>
        query={run}
        items={({ results }) => results.filter((result) => verdict === 'all' || result.verdict === verdict)}
        rowKey={({ position }) => position}
        label={t.verdict}
        empty={{ text: t.checking }}
        onClear={verdict === 'all' ? undefined : () => setVerdict('all')}
        columns={[
          {
            title: t.url,
            render: (_value, { url }) => (
              <span className="mono">
                <BreakableUrl url={url} />
              </span>
            ),
          },
          { title: t.kind, render: (_value, { random }) => (random ? t.randomSubdomain : t.original) },
          {
            title: t.verdict,
            card: 'side',
            render: (_value, result) => <Verdict verdict={result.verdict} />,
          },
        ]}
      />
    </Card>
  )
}
