// The audit log.
import { Card } from 'antd'
import type { ReactNode } from 'react'
import { type AuditFilter, operatorRoutes } from '../../contract/console/operator.ts'
import type { Text } from '../../contract/text.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { ExactTime } from '../parts/format.tsx'
import { SearchFilter } from '../parts/filters.tsx'
import { CursorPager, cursorQuery, List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { useUrlState } from '../parts/url-state.ts'
import { operatorText } from './text.ts'

const defaults = { range: 'all', from: '', to: '', actor: '', action: '', target: '', before: '' }

/** An action without a name is shown as its identifier. */
const actionNames: Readonly<Record<string, Text>> = {
  'account.create': { zh: '创建账户', en: 'Account created' },
  'account.sign_up': { zh: '注册账户', en: 'Signed up' },
  'account.change': { zh: '修改账户', en: 'Account edited' },
  'account.reset_password': { zh: '重置密码', en: 'Password reset' },
  'account.view': { zh: '查看账户', en: 'Account viewed' },
  'credits.grant': { zh: '发放额度', en: 'Credits granted' },
  'credits.take': { zh: '扣减额度', en: 'Credits deducted' },
  'key.reset': { zh: '重置密钥', en: 'Key reset' },
  'key.clear': { zh: '清除密钥', en: 'Key cleared' },
  'template.approve': { zh: '模板审核通过', en: 'Template approved' },
  'template.refuse': { zh: '模板审核不通过', en: 'Template rejected' },
  'signature.approve': { zh: '签名审核通过', en: 'Signature approved' },
  'signature.refuse': { zh: '签名审核不通过', en: 'Signature rejected' },
  'redeem.make': { zh: '生成兑换码', en: 'Codes created' },
  'redeem.revoke': { zh: '作废兑换码', en: 'Code revoked' },
  'redeem.revoke_batch': { zh: '作废整批兑换码', en: 'Batch revoked' },
  'domain.add': { zh: '添加域名', en: 'Domain added' },
  'domain.remove': { zh: '移除域名', en: 'Domain removed' },
  'gateway.test': { zh: '测试网关', en: 'Gateway tested' },
}

export function AuditPage(): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  const [params, setParams] = useUrlState(defaults)
  const filter: AuditFilter = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    ...(params.actor === '' ? {} : { actor: params.actor }),
    ...(params.action === '' ? {} : { action: params.action }),
    ...(params.target === '' ? {} : { target: params.target }),
  }
  const audit = useApiQuery(operatorRoutes.audit, {
    ...filter,
    ...cursorQuery(params.before),
  })
  const fields = [
    ['actor', t.actor],
    ['action', t.action],
    ['target', t.target],
  ] as const
  return (
    <Page title={t.audit} lead={t.auditLead}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <DateRange withAll {...params} onChange={(range) => setParams({ ...range, before: '' })} />
        {fields.map(([name, label]) => (
          <SearchFilter
            key={name}
            label={label}
            value={params[name]}
            width={180}
            onSearch={(value) => setParams({ [name]: value, before: '' })}
          />
        ))}
        <ExportLink route={operatorRoutes.auditCsv} filter={filter} />
      </div>
      <Card size="small">
        <List
          query={audit}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.audit}
          empty={{ text: t.noAudit }}
          onClear={Object.keys(filter).length > 0 ? () => setParams(defaults) : undefined}
          columns={[
            { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
            { title: t.actor, card: 'plain', dataIndex: 'actor' },
            {
              title: t.action,
              card: 'plain',
              render: (_value, { action }) => {
                const known = actionNames[action]
                return (
                  <span className="nowrap">
                    {known && <div>{pick(known)}</div>}
                    <span className={known ? 'mono small muted' : 'mono'}>{action}</span>
                  </span>
                )
              },
            },
            { title: t.target, card: 'plain', dataIndex: 'target' },
            {
              title: common.note,
              card: 'plain',
              render: (_value, { note }) => (
                <div style={{ maxWidth: 240, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>{note}</div>
              ),
            },
            {
              title: t.details,
              card: 'plain',
              render: (_value, { details }) => (
                <div className="mono small" style={{ maxWidth: 400, whiteSpace: 'normal' }}>
                  {Object.entries(details)
                    .map(([name, value]) => `${name}: ${value ?? '–'}`)
                    .join(', ')}
                </div>
              ),
            },
          ]}
          footer={({ next }) => (
            <CursorPager before={params.before} next={next} onChange={(before) => setParams({ before })} />
          )}
        />
      </Card>
    </Page>
  )
}
