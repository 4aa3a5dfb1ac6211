// Imports of links: upload a CSV, see the problems of the dry run, start, progress, result file.
import { UploadOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { App, Button, Card, Drawer, Input, Progress, Segmented, Table, Upload } from 'antd'
import { type ReactNode, useState } from 'react'
import { linkImportRoutes } from '../../contract/console/link-import.ts'
import type { LinkImport } from '../../contract/console/responses/link-import.ts'
import { importFormats, importLimits } from '../../contract/link-import.ts'
import { linkLimits } from '../../contract/shortlink.ts'
import { callApi, fileUrl } from '../api/client.ts'
import { useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { formatCount, RelativeTime, StatusLabel, type Tone } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { objectTitle, Page } from '../parts/page.tsx'
import { importText } from './import-text.ts'

const tones: Readonly<Record<LinkImport['state'], Tone>> = {
  uploading: 'muted',
  checking: 'muted',
  checked: 'warning',
  running: 'success',
  paused: 'warning',
  finished: 'success',
  cancelled: 'muted',
}

export function ImportsPage(): ReactNode {
  const t = useText(importText)
  const { message } = App.useApp()
  const me = useMe()
  const [open, setOpen] = useState<LinkImport>()
  const [asking, setAsking] = useState<{ one: LinkImport; action: 'start' | 'cancel' }>()
  const imports = useApiQuery(linkImportRoutes.list, {}, { refetchMs: 2_000 })
  const start = useApiMutation(linkImportRoutes.start)
  const cancel = useApiMutation(linkImportRoutes.cancel)
  const canChange = me.data?.read_only === false
  const isPaused = asking?.one.state === 'paused'
  return (
    <Page
      back={<Link to="/shortlink">{t.back}</Link>}
      title={t.title}
      lead={t.lead(formatCount(importLimits.rows))}
    >
      {canChange && <UploadCard onUploaded={() => void message.success(t.uploaded)} />}
      <Card size="small">
        <List<LinkImport, NonNullable<typeof imports.data>>
          query={imports}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.title}
          empty={{ text: t.empty }}
          columns={[
            { title: t.file, render: (_value, one) => <FileName one={one} /> },
            { title: t.state, card: 'side', render: (_value, one) => <State one={one} /> },
            { title: t.progress, render: (_value, one) => <Done one={one} /> },
            { title: t.at, render: (_value, { created_at }) => <RelativeTime at={created_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, one) => (
                <span className="row" style={{ justifyContent: 'flex-end' }}>
                  {canChange && (one.state === 'checked' || one.state === 'paused') && (
                    <Button size="small" type="primary" onClick={() => setAsking({ one, action: 'start' })}>
                      {one.state === 'checked' ? t.start : t.resume}
                    </Button>
                  )}
                  {one.invalid + one.failed > 0 && (
                    <Button size="small" onClick={() => setOpen(one)}>
                      {t.problems}
                    </Button>
                  )}
                  <Button size="small" href={fileUrl(linkImportRoutes.result, {}, { id: one.id })}>
                    {t.result}
                  </Button>
                  {canChange && !['finished', 'cancelled', 'uploading'].includes(one.state) && (
                    <Button size="small" danger onClick={() => setAsking({ one, action: 'cancel' })}>
                      {t.cancel}
                    </Button>
                  )}
                </span>
              ),
            },
          ]}
        />
      </Card>
      <Drawer
        open={open !== undefined}
        size={720}
        title={objectTitle(t.problems, open?.file_name)}
        onClose={() => setOpen(undefined)}
      >
        {open !== undefined && <Problems key={open.id} id={open.id} />}
      </Drawer>
      <Confirm
        open={asking !== undefined}
        danger={asking?.action === 'cancel'}
        title={asking?.action === 'cancel' ? t.cancelTitle : isPaused ? t.resumeTitle : t.startTitle}
        consequence={asking?.action === 'cancel' ? t.cancelText : t.cost(formatCount(asking?.one.cost ?? 0))}
        ok={asking?.action === 'cancel' ? t.cancel : isPaused ? t.resume : t.start}
        onClose={() => setAsking(undefined)}
        onConfirm={async () => {
          if (!asking) return
          const call = asking.action === 'start' ? start : cancel
          await call.mutateAsync({ body: {}, params: { id: asking.one.id } })
        }}
      />
    </Page>
  )
}

function UploadCard({ onUploaded }: { onUploaded: () => void }): ReactNode {
  const t = useText(importText)
  const client = useQueryClient()
  const [codes, setCodes] = useState<'keep' | 'new'>('keep')
  const [tag, setTag] = useState('')
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const send = async (file: File) => {
    setBusy(true)
    setError(undefined)
    try {
      const query = { name: file.name, codes, ...(tag.trim() === '' ? {} : { tag: tag.trim() }) }
      await callApi(linkImportRoutes.upload, query, { file })
      onUploaded()
      await client.invalidateQueries()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Card size="small">
      <div className="stack">
        <div className="row">
          <div className="scroll-x">
            <Segmented
              aria-label={t.codes}
              value={codes}
              onChange={setCodes}
              options={[
                { value: 'keep', label: t.keep },
                { value: 'new', label: t.fresh },
              ]}
            />
          </div>
          <Input
            aria-label={t.tag}
            placeholder={`${t.tag} · ${t.tagHint}`}
            style={{ width: 300, maxWidth: '100%' }}
            maxLength={linkLimits.tagLength}
            value={tag}
            onChange={(event) => setTag(event.target.value)}
          />
          <Upload
            accept=".csv,text/csv"
            showUploadList={false}
            beforeUpload={(file) => {
              void send(file)
              return false
            }}
          >
            <Button type="primary" icon={<UploadOutlined />} loading={isBusy}>
              {t.upload}
            </Button>
          </Upload>
        </div>
        <ActionError error={error} />
      </div>
    </Card>
  )
}

function FileName({ one }: { one: LinkImport }): ReactNode {
  const pick = usePick()
  const format = Object.entries(importFormats).find(([name]) => name === one.format)?.[1]
  return (
    <div>
      <div style={{ overflowWrap: 'anywhere' }}>{one.file_name}</div>
      <div className="muted small">
        {format ? pick(format) : ''} · {one.encoding}
      </div>
    </div>
  )
}

function State({ one }: { one: LinkImport }): ReactNode {
  const t = useText(importText)
  const reasons: Readonly<Record<string, string>> = {
    insufficient: t.insufficient,
    expired: t.expired,
    suspended: t.suspended,
    day_cap: t.day_cap,
    month_cap: t.month_cap,
  }
  const reason = one.state === 'paused' ? (reasons[one.pause_reason] ?? one.pause_reason) : ''
  return (
    <StatusLabel tone={tones[one.state]}>
      {t[one.state]}
      {reason === '' ? '' : ` · ${reason}`}
    </StatusLabel>
  )
}

function Done({ one }: { one: LinkImport }): ReactNode {
  const t = useText(importText)
  const isOver = one.state === 'checked' ? 0 : one.done
  return (
    <div style={{ minWidth: 200 }}>
      <Progress
        percent={one.total === 0 ? 0 : Math.floor((isOver / one.total) * 100)}
        size="small"
        aria-label={t.progress}
      />
      <div className="muted small">
        {t.counts(formatCount(one.created), formatCount(one.invalid), formatCount(one.failed))}
      </div>
    </div>
  )
}

function Problems({ id }: { id: number }): ReactNode {
  const t = useText(importText)
  const [state, setState] = useState<'invalid' | 'failed'>('invalid')
  const [from, setFrom] = useState(0)
  const rows = useApiQuery(linkImportRoutes.rows, { state, from }, { params: { id } })
  return (
    <div className="stack">
      <Segmented<'invalid' | 'failed'>
        aria-label={t.problems}
        value={state}
        onChange={(value) => {
          setState(value)
          setFrom(0)
        }}
        options={[
          { value: 'invalid', label: t.invalidRows },
          { value: 'failed', label: t.failedRows },
        ]}
      />
      <Loaded query={rows}>
        {({ items, next }) => (
          <>
            <Table
              size="small"
              pagination={false}
              scroll={{ x: 'max-content' }}
              dataSource={items}
              rowKey={({ index }) => index}
              locale={{ emptyText: t.noProblems }}
              columns={[
                { title: t.line, dataIndex: 'line' },
                {
                  title: t.target,
                  render: (_value, { target_url }) => (
                    <span className="cell-text muted" title={target_url}>
                      {target_url}
                    </span>
                  ),
                },
                { title: t.problem, dataIndex: 'problem' },
              ]}
            />
            {next !== null && <Button onClick={() => setFrom(next)}>{t.more}</Button>}
          </>
        )}
      </Loaded>
    </div>
  )
}
