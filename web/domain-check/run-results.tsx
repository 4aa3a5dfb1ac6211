// One run: progress while results arrive, filter by verdict, export.
import { Card, Progress, Segmented } from 'antd'
import { type ReactNode, useState } from 'react'
import { domainCheckRoutes, type DomainResult, domainVerdicts } from '../../contract/console/domain-check.ts'
import { ApiError } from '../api/client.ts'
import { useAsk } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { count, Outcome } from '../parts/figures.tsx'
import { List } from '../parts/list.tsx'
import { domainText } from './text.ts'
import { Verdict, verdictWord } from './verdict.tsx'

export function RunResults({ id }: { id: string }): ReactNode {
  const words = useText(domainText)
  const [verdict, setVerdict] = useState('all')
  const [running, setRunning] = useState(true)
  const run = useAsk(domainCheckRoutes.run, {}, { parts: { id }, refetchMs: running ? 700 : false })
  const state = run.data?.state
  // The check goes on without us: while only the connection is lost, so does the asking.
  const isRefused = run.isError && !(run.error instanceof ApiError && run.error.code === 'offline')
  if (running && (isRefused || (state !== undefined && state !== 'running'))) setRunning(false)
  return (
    <Card
      size="small"
      title={
        <h2>
          {run.data && (
            <Outcome tone={state === 'failed' ? 'error' : state === 'done' ? 'success' : 'pending'}>
              {state === 'failed' ? words.failed : state === 'done' ? words.done : words.running}
            </Outcome>
          )}
        </h2>
      }
      extra={<ExportLink route={domainCheckRoutes.runCsv} sent={{}} parts={{ id }} />}
    >
      {run.data && (
        <div className="stack" style={{ marginBottom: 16 }}>
          <Progress
            percent={run.data.total === 0 ? 0 : Math.floor((run.data.done / run.data.total) * 100)}
            format={() => words.progress(count(run.data.done), count(run.data.total))}
            aria-label={words.progress(count(run.data.done), count(run.data.total))}
          />
          <div className="scroll-x">
            <Segmented
              aria-label={words.verdict}
              value={verdict}
              onChange={setVerdict}
              options={[
                { value: 'all', label: `${words.all} ${count(run.data.total)}` },
                ...domainVerdicts.map((known) => ({
                  value: known as string,
                  label: `${words[verdictWord(known)]} ${count(run.data.counts[known])}`,
                })),
              ]}
            />
          </div>
        </div>
      )}
      <List<DomainResult, NonNullable<typeof run.data>>
        asked={run}
        items={({ results }) => results.filter((result) => verdict === 'all' || result.verdict === verdict)}
        rowKey={({ position }) => position}
        label={words.verdict}
        empty={{ text: words.asking }}
        onClear={verdict === 'all' ? undefined : () => setVerdict('all')}
        columns={[
          { title: words.url, render: (_value, { url }) => <span className="mono">{url}</span> },
          { title: words.kind, render: (_value, { random }) => (random ? words.randomOne : words.original) },
          { title: words.verdict, render: (_value, result) => <Verdict verdict={result.verdict} /> },
        ]}
      />
    </Card>
  )
}
