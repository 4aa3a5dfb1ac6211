// What a file would send: counts, price, preview, rejected rows; then the confirmation and the submission of its batches.
import { useQueryClient } from '@tanstack/react-query'
import { Alert, Button, Progress, Radio, Statistic } from 'antd'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import type { Template } from '../../../contract/console/responses/sms.ts'
import { formatCsv } from '../../../contract/csv.ts'
import { countParts, fillTemplate, maxSendAheadDays, wholeText } from '../../../contract/sms-text.ts'
import { dayMs, parseTime } from '../../../contract/time.ts'
import { useText } from '../../frame/i18n.ts'
import { ActionError } from '../../parts/action-error.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { download } from '../../parts/download.ts'
import { readMoment } from '../../parts/moment.ts'
import { TimeField } from '../../parts/time-field.tsx'
import { formatCount } from '../../parts/format.tsx'
import { type ColumnChoice, type RecipientColumns, type LocalProblem, readRecipients } from './recipients.ts'
import {
  type CheckedGroup,
  checkGroup,
  type GroupFrame,
  planSubmissions,
  type RejectedRecipient,
  submit,
  type Submission,
} from './submit.ts'
import { type BatchText, batchText } from './text.ts'

interface CheckedCardProps {
  readonly template: Template
  readonly frame: GroupFrame
  readonly sign: string
  readonly columns: RecipientColumns
  readonly choice: ColumnChoice
  /** The user wants to send another group. */
  readonly onDone: () => void
}

const previews = 5

export function CheckedCard({ template, frame, sign, columns, choice, onDone }: CheckedCardProps): ReactNode {
  const t = useText(batchText)
  const local = useMemo(() => readRecipients(columns, choice), [columns, choice])
  const [progress, setProgress] = useState<readonly [number, number]>()
  const [checked, setChecked] = useState<CheckedGroup>()
  const [error, setError] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const check = async () => {
    const abort = new AbortController()
    running.current = abort
    setError(undefined)
    try {
      const onProgress = (done: number, total: number) => setProgress([done, total])
      setChecked(await checkGroup(frame, local.recipients, { signal: abort.signal, onProgress }))
    } catch (failure) {
      if (!abort.signal.aborted) setError(failure)
    } finally {
      if (!abort.signal.aborted) setProgress(undefined)
    }
  }
  const rejectedRows = [
    ...local.rejected.map(({ line, phone, problem }) => [line, phone, problemText(problem, t)] as const),
    ...(checked?.rejected ?? []).map(lineOf),
  ].toSorted(([one], [other]) => one - other)

  if (!checked) {
    return (
      <div className="stack">
        <ActionError error={error} />
        {local.recipients.length === 0 && <Alert type="warning" showIcon title={t.nothing} />}
        <div className="row">
          <Button
            type="primary"
            loading={progress !== undefined}
            disabled={local.recipients.length === 0}
            onClick={() => void check()}
          >
            {t.check}
          </Button>
          {rejectedRows.length > 0 && <RejectedButton rows={rejectedRows} />}
          <span className="muted" aria-live="polite">
            {progress && t.checking(progress[0], progress[1])}
          </span>
        </div>
      </div>
    )
  }
  const shown = checked.valid.slice(0, previews).map(({ line, phone, params }) => {
    const text = wholeText(sign, fillTemplate(template.content, new Map(Object.entries(params))))
    return { line, phone, text }
  })
  return (
    <div className="stack">
      <div className="row" style={{ gap: 32 }}>
        <Statistic title={t.valid} value={formatCount(checked.valid.length)} />
        <Statistic title={t.rejected} value={formatCount(rejectedRows.length)} />
        <Statistic title={t.cost} value={formatCount(checked.cost)} />
        <Statistic title={t.remaining} value={formatCount(checked.remaining)} />
        {rejectedRows.length > 0 && <RejectedButton rows={rejectedRows} />}
      </div>
      {checked.valid.length === 0 ? (
        <Alert type="warning" showIcon title={t.nothing} />
      ) : (
        <>
          <div className="scroll-x" tabIndex={0} role="region" aria-label={t.preview}>
            <table className="plain-table">
              <caption className="muted" style={{ textAlign: 'start' }}>
                {t.preview}
              </caption>
              <thead>
                <tr>
                  <th scope="col">{t.line}</th>
                  <th scope="col">{t.phone}</th>
                  <th scope="col">{t.content}</th>
                </tr>
              </thead>
              <tbody>
                {shown.map(({ line, phone, text }) => (
                  <tr key={line}>
                    <td>{line}</td>
                    <td className="mono nowrap">{phone}</td>
                    <td style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
                      {text} <span className="muted small">{t.parts(countParts(text.length))}</span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {template.type === 'marketing' && <Alert type="info" showIcon title={t.marketing} />}
          {checked.cost > checked.remaining ? (
            <Alert type="error" showIcon title={t.notEnough} />
          ) : (
            <SendGroup frame={frame} checked={checked} onDone={onDone} />
          )}
        </>
      )}
    </div>
  )
}

type RejectedLine = readonly [line: number, phone: string, reason: string]

function lineOf({ recipient, reason }: RejectedRecipient): RejectedLine {
  return [recipient.line, recipient.phone, reason]
}

function RejectedButton({ rows }: { rows: readonly RejectedLine[] }): ReactNode {
  const t = useText(batchText)
  const save = () => {
    const text = formatCsv([[t.line, t.phone, t.reason], ...rows])
    download('sms-rejected.csv', new Blob([text], { type: 'text/csv;charset=utf-8' }))
  }
  return <Button onClick={save}>{`${t.downloadRejected} (${formatCount(rows.length)})`}</Button>
}

function problemText(problem: LocalProblem, t: BatchText): string {
  switch (problem.kind) {
    case 'variables':
      return t.problemVariables(problem.names.join(t.separator))
    case 'phone':
      return t.problemPhone
    case 'scientific':
      return t.problemScientific
    case 'repeated':
      return t.problemRepeated
    case 'cut':
      return t.problemCut
  }
}

interface SubmittedGroup {
  readonly done: number
  /** Batches of which at least one message was accepted. */
  readonly batches: number
  readonly accepted: number
  readonly rejected: readonly RejectedLine[]
}

const nothingSubmitted: SubmittedGroup = { done: 0, batches: 0, accepted: 0, rejected: [] }

interface SendGroupProps {
  readonly frame: GroupFrame
  readonly checked: CheckedGroup
  readonly onDone: () => void
}

function SendGroup({ frame, checked, onDone }: SendGroupProps): ReactNode {
  const t = useText(batchText)
  const client = useQueryClient()
  const [isLater, setLater] = useState(false)
  const [at, setAt] = useState('')
  const [isAsking, setAsking] = useState(false)
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<unknown>()
  const [plan, setPlan] = useState<readonly Submission[]>()
  const [submitted, setSubmitted] = useState(nothingSubmitted)
  const sendAt = isLater ? readMoment(at) : undefined
  const sendAtMs = sendAt === undefined ? undefined : parseTime(sendAt)
  const now = Date.now()
  const isTimeWrong =
    isLater && (sendAtMs === undefined || sendAtMs <= now || sendAtMs > now + maxSendAheadDays * dayMs)
  const count = formatCount(checked.valid.length)
  const cost = formatCount(checked.cost)

  useEffect(() => {
    if (!isSending) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isSending])

  const send = async (submissions: readonly Submission[], from: SubmittedGroup) => {
    setPlan(submissions)
    setSending(true)
    setError(undefined)
    let current = from
    try {
      for (const submission of submissions.slice(from.done)) {
        const sent = await submit(
          { ...frame, ...(sendAt === undefined ? {} : { send_at: sendAt }) },
          submission,
        )
        current = {
          done: current.done + 1,
          batches: current.batches + (sent.accepted > 0 ? 1 : 0),
          accepted: current.accepted + sent.accepted,
          rejected: [...current.rejected, ...sent.rejected.map(lineOf)],
        }
        setSubmitted(current)
      }
    } catch (failure) {
      setError(failure)
    } finally {
      setSending(false)
      await client.invalidateQueries()
    }
  }

  if (plan) {
    const { done, batches, accepted, rejected } = submitted
    if (isSending) {
      return (
        <div className="stack" aria-live="polite">
          <Progress percent={Math.floor((done / plan.length) * 100)} aria-label={t.progress} />
          <span>{t.sending(Math.min(done + 1, plan.length), plan.length)}</span>
        </div>
      )
    }
    if (done < plan.length) {
      return (
        <div className="stack">
          <ActionError error={error} />
          <Alert type="warning" showIcon title={t.stopped(done, plan.length)} />
          <div>
            <Button type="primary" onClick={() => void send(plan, submitted)}>
              {t.continueSending}
            </Button>
          </div>
        </div>
      )
    }
    return (
      <Alert
        type={accepted > 0 ? 'success' : 'warning'}
        showIcon
        title={t.sent(formatCount(accepted), formatCount(batches))}
        description={
          rejected.length > 0 && (
            <div className="row">
              {t.sentRejected(formatCount(rejected.length))} <RejectedButton rows={rejected} />
            </div>
          )
        }
        action={
          <Button size="small" onClick={onDone}>
            {t.another}
          </Button>
        }
      />
    )
  }
  return (
    <div className="stack">
      <div className="row">
        <Radio.Group
          aria-label={t.when}
          value={isLater}
          onChange={(event) => setLater(event.target.value === true)}
          options={[
            { value: false, label: t.now },
            { value: true, label: t.later },
          ]}
        />
        {isLater && (
          <TimeField label={t.sendAt} value={at} wrong={isTimeWrong && at !== ''} onChange={setAt} />
        )}
        {isLater && <span className="muted">{isTimeWrong ? t.sendAtRule(maxSendAheadDays) : 'UTC+8'}</span>}
      </div>
      <div>
        <Button type="primary" disabled={isTimeWrong} onClick={() => setAsking(true)}>
          {t.send(count, cost)}
        </Button>
      </div>
      <Confirm
        open={isAsking}
        title={t.confirmTitle}
        consequence={t.confirmText(
          count,
          cost,
          formatCount(planSubmissions(checked.valid).length),
          sendAt === undefined ? t.immediately : `${sendAt.slice(0, 16)} UTC+8`,
        )}
        ok={t.confirmOk}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          // The dialog closes at once; the progress is shown in its place.
          void send(planSubmissions(checked.valid), submitted)
        }}
      />
    </div>
  )
}
