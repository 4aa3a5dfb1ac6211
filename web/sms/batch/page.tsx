// Group sending: a new group from a file, and the batches.
import { Link } from '@tanstack/react-router'
import { Alert } from 'antd'
import type { ReactNode } from 'react'
import { smsRoutes } from '../../../contract/console/sms.ts'
import { useApiQuery, useMe } from '../../api/hooks.ts'
import { useText } from '../../frame/i18n.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Batches } from './batches.tsx'
import { NewGroup } from './new-group.tsx'
import { batchText } from './text.ts'

export function Groups(): ReactNode {
  const t = useText(batchText)
  const me = useMe()
  const templates = useApiQuery(smsRoutes.templates, { state: '审核通过', size: 200 })
  const signatures = useApiQuery(smsRoutes.signatures, {})
  return (
    <div className="stack">
      {me.data?.read_only ? (
        <span className="muted">{t.readOnly}</span>
      ) : (
        <Loaded query={templates}>
          {({ items }) =>
            items.length === 0 ? (
              <Alert
                type="info"
                showIcon
                title={t.noTemplates}
                action={<Link to="/sms">{t.toTemplates}</Link>}
              />
            ) : (
              <Loaded query={signatures}>
                {(known) => <NewGroup templates={items} signatures={known} />}
              </Loaded>
            )
          }
        </Loaded>
      )}
      <Batches />
    </div>
  )
}
