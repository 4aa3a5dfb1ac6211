// Reports of short links by visitors, and the bans of links and hosts.
import { PlusOutlined } from '@ant-design/icons'
import { App, Button, Card, Form, Input, Segmented } from 'antd'
import { type ReactNode, useState } from 'react'
import { linkAbuseRoutes } from '../../contract/console/link-domains.ts'
import type { LinkBan, LinkReport } from '../../contract/console/responses/link-domains.ts'
import {
  isReportReason,
  type ReportDecision,
  reportReasons,
  reportStates,
} from '../../contract/link-abuse.ts'
import { maxHostLength } from '../../contract/link-domains.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { Confirm, ConfirmItem } from '../parts/confirm.tsx'
import { BreakableUrl, ExactTime, StatusLabel } from '../parts/format.tsx'
import { CursorPager, cursorQuery, List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { domainsText } from '../shortlink/domains-text.ts'
import { AccountByName } from './account-link.tsx'
import { OperatorForm } from './operator-form.tsx'

const defaults = { tab: 'reports', state: 'open', before: '' }

export function AbusePage(): ReactNode {
  const t = useText(domainsText)
  const [params, setParams] = useUrlState(defaults)
  const [adding, setAdding] = useState(false)
  const isBans = params.tab === 'bans'
  return (
    <Page
      title={t.abuse}
      lead={t.abuseLead}
      actions={
        <May change="reviews">
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setAdding(true)}>
            {t.addBan}
          </Button>
        </May>
      }
    >
      <div className="filters" style={{ marginBottom: 0 }}>
        <Segmented
          aria-label={t.abuse}
          value={isBans ? 'bans' : 'reports'}
          onChange={(tab) => setParams({ tab, before: '' })}
          options={[
            { value: 'reports', label: t.reports },
            { value: 'bans', label: t.bans },
          ]}
        />
        {!isBans && (
          <Segmented
            aria-label={t.state}
            value={params.state}
            onChange={(state) => setParams({ state, before: '' })}
            options={reportStates.map((value) => ({
              value,
              label: value === 'banned' ? t.bannedState : t[value],
            }))}
          />
        )}
      </div>
      {isBans ? (
        <Bans before={params.before} onPage={(before) => setParams({ before })} />
      ) : (
        <Reports state={params.state} before={params.before} onPage={(before) => setParams({ before })} />
      )}
      <AddBan open={adding} onClose={() => setAdding(false)} />
    </Page>
  )
}

interface PagedProps {
  readonly before: string
  readonly onPage: (before: string) => void
}

function Bans({ before, onPage }: PagedProps): ReactNode {
  const t = useText(domainsText)
  const bans = useApiQuery(linkAbuseRoutes.bans, cursorQuery(before))
  const remove = useApiMutation(linkAbuseRoutes.removeBan)
  const [removing, setRemoving] = useState<LinkBan>()
  return (
    <Card size="small">
      <List<LinkBan, NonNullable<typeof bans.data>>
        query={bans}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={t.bans}
        empty={{ text: t.noBans }}
        columns={[
          { title: t.kind, render: (_value, { kind }) => (kind === 'link' ? t.link : t.hostKind) },
          {
            title: t.value,
            render: (_value, { value }) => (
              <span className="mono host">
                <BreakableUrl url={value} />
              </span>
            ),
          },
          { title: t.note, dataIndex: 'note' },
          { title: t.by, dataIndex: 'created_by' },
          { title: t.at, render: (_value, { created_at }) => <ExactTime at={created_at} /> },
          {
            title: '',
            align: 'end',
            render: (_value, ban) => (
              <May change="reviews">
                <Button size="small" onClick={() => setRemoving(ban)}>
                  {t.unban}
                </Button>
              </May>
            ),
          },
        ]}
        footer={({ next }) => <CursorPager before={before} next={next} onChange={onPage} />}
      />
      <ConfirmItem
        item={removing}
        withNote
        title={t.unbanTitle}
        consequence={({ value }) => t.unbanText(value)}
        ok={t.unban}
        done={t.unbanned}
        onClose={() => setRemoving(undefined)}
        onConfirm={({ id }, { note }) => remove.mutateAsync({ body: { note }, params: { id } })}
      />
    </Card>
  )
}

function Reports({ state, before, onPage }: PagedProps & { state: string }): ReactNode {
  const t = useText(domainsText)
  const pick = usePick()
  const reports = useApiQuery(linkAbuseRoutes.reports, {
    state: reportStates.find((value) => value === state) ?? 'open',
    ...cursorQuery(before),
  })
  const [deciding, setDeciding] = useState<{ report: LinkReport; decision: ReportDecision }>()
  return (
    <Card size="small">
      <List<LinkReport, NonNullable<typeof reports.data>>
        query={reports}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={t.reports}
        empty={{ text: t.noReports }}
        columns={[
          {
            title: t.link,
            render: (_value, { short_code, is_banned }) => (
              <span className="row">
                <span className="mono">{short_code}</span>
                {is_banned && <StatusLabel tone="error">{t.banned}</StatusLabel>}
              </span>
            ),
          },
          { title: t.account, render: (_value, { username }) => <AccountByName name={username} /> },
          {
            title: t.target,
            render: (_value, { target_url }) => (
              <span className="cell-text muted" title={target_url}>
                <BreakableUrl url={target_url} />
              </span>
            ),
          },
          {
            title: t.reason,
            render: (_value, { reason, details, contact }) => (
              <div style={{ maxWidth: 320, overflowWrap: 'anywhere' }}>
                {isReportReason(reason) ? pick(reportReasons[reason]) : reason}
                {details !== '' && <div className="muted small">{details}</div>}
                {contact !== '' && (
                  <div className="muted small">
                    {t.contact}: {contact}
                  </div>
                )}
              </div>
            ),
          },
          { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
          {
            title: '',
            align: 'end',
            render: (_value, report) =>
              report.state === 'open' ? (
                <May change="reviews">
                  <span className="row" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
                    <Button size="small" danger onClick={() => setDeciding({ report, decision: 'ban_link' })}>
                      {t.banLink}
                    </Button>
                    <Button size="small" danger onClick={() => setDeciding({ report, decision: 'ban_host' })}>
                      {t.banHost}
                    </Button>
                    <Button size="small" onClick={() => setDeciding({ report, decision: 'dismiss' })}>
                      {t.dismiss}
                    </Button>
                  </span>
                </May>
              ) : (
                <span className="muted">{report.decided_by}</span>
              ),
          },
        ]}
        footer={({ next }) => <CursorPager before={before} next={next} onChange={onPage} />}
      />
      <Decide deciding={deciding} onClose={() => setDeciding(undefined)} />
    </Card>
  )
}

function Decide({
  deciding,
  onClose,
}: {
  deciding: { report: LinkReport; decision: ReportDecision } | undefined
  onClose: () => void
}): ReactNode {
  const t = useText(domainsText)
  const { message } = App.useApp()
  const decide = useApiMutation(linkAbuseRoutes.decideReport)
  const { report, decision = 'dismiss' } = deciding ?? {}
  const texts = {
    ban_link: t.banLinkText(report?.short_code ?? ''),
    ban_host: t.banHostText(URL.parse(report?.target_url ?? '')?.hostname ?? ''),
    dismiss: t.dismissText,
  }
  const labels = { ban_link: t.banLink, ban_host: t.banHost, dismiss: t.dismiss }
  return (
    <Confirm
      open={deciding !== undefined}
      danger={decision !== 'dismiss'}
      withNote
      title={t.decideTitle}
      consequence={texts[decision]}
      ok={labels[decision]}
      onClose={onClose}
      onConfirm={async ({ note }) => {
        if (!report) return
        const { id, target_url } = report
        await decide.mutateAsync({ body: { decision, target_url, note }, params: { id } })
        message.success(t.decided)
      }}
    />
  )
}

function AddBan({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useText(domainsText)
  const { message } = App.useApp()
  const common = useText(partsText)
  const [form] = Form.useForm<{ kind: 'link' | 'host'; value: string; note: string }>()
  const add = useApiMutation(linkAbuseRoutes.addBan)
  return (
    <OperatorForm<{ kind: 'link' | 'host'; value: string }>
      open={open}
      title={t.addBan}
      ok={t.addBan}
      form={form}
      initial={{ kind: 'host' }}
      onClose={onClose}
      onSubmit={async ({ kind, value, note }) => {
        await add.mutateAsync({ body: { target: `${kind}:${value.trim()}`, note } })
        message.success(t.banned)
      }}
    >
      <Form.Item name="kind" label={t.kind}>
        <Segmented
          options={[
            { value: 'host', label: t.hostKind },
            { value: 'link', label: t.link },
          ]}
        />
      </Form.Item>
      <Form.Item name="value" label={t.value} rules={[{ required: true, message: common.required }]}>
        <Input className="mono" placeholder="bad.example.com" maxLength={maxHostLength} />
      </Form.Item>
    </OperatorForm>
  )
}
