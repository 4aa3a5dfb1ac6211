// Actions on the selected links, with a result for each link.
import { App, Alert, Button, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { type BulkChange, linkRoutes, maxBulkLinks } from '../../contract/console/shortlink.ts'
import { linkLimits } from '../../contract/shortlink.ts'
import { fileUrl } from '../api/client.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { partsText } from '../parts/text.ts'
import { shortlinkText } from './text.ts'

interface BulkBarProps {
  /** Titles of the selected links by id. */
  readonly selected: ReadonlyMap<number, string>
  readonly canChange: boolean
  readonly onClear: () => void
}

interface FailedLink {
  readonly id: number
  readonly message: string
}

export function BulkBar({ selected, canChange, onClear }: BulkBarProps): ReactNode {
  const t = useText(shortlinkText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ tag: string }>()
  const [asking, setAsking] = useState<BulkChange['action']>()
  const [failures, setFailures] = useState<readonly (FailedLink & { title: string })[]>([])
  const change = useApiMutation(linkRoutes.bulk)
  const run = async (action: BulkChange['action'], tag?: string) => {
    const ids = [...selected.keys()].slice(0, maxBulkLinks)
    const { items } = await change.mutateAsync({
      body: { action, ids, ...(tag === undefined ? {} : { tag }) },
    })
    const failed = items.filter(({ ok }) => !ok)
    setFailures(failed.map((one) => ({ ...one, title: selected.get(one.id) ?? '' })))
    if (failed.length === 0) {
      message.success(t.bulkDone(items.length))
      onClear()
    }
  }
  const tagging = asking === 'tag' || asking === 'untag' ? asking : undefined
  const confirming = asking === 'pause' || asking === 'resume' || asking === 'delete' ? asking : undefined
  return (
    <>
      {failures.length > 0 && (
        <Alert
          type="warning"
          showIcon
          closable={{ onClose: () => setFailures([]), 'aria-label': common.close }}
          title={t.bulkFailed(failures.length)}
          description={
            <ul className="summary">
              {failures.map(({ id, title, message: problem }) => (
                <li key={id}>
                  {title}: {problem}
                </li>
              ))}
            </ul>
          }
        />
      )}
      {selected.size > 0 && (
        <div className="row" role="toolbar" aria-label={t.bulk}>
          <strong>{t.selected(selected.size)}</strong>
          {canChange && (
            <>
              <Button size="small" onClick={() => setAsking('tag')}>
                {t.addTag}
              </Button>
              <Button size="small" onClick={() => setAsking('untag')}>
                {t.removeTag}
              </Button>
              <Button size="small" onClick={() => setAsking('pause')}>
                {t.pause}
              </Button>
              <Button size="small" onClick={() => setAsking('resume')}>
                {t.resume}
              </Button>
              <Button size="small" danger onClick={() => setAsking('delete')}>
                {t.remove}
              </Button>
            </>
          )}
          <Button
            size="small"
            href={fileUrl(linkRoutes.csv, { ids: [...selected.keys()].join(',') }, {})}
            download
          >
            {t.exportSelected}
          </Button>
          <Button size="small" type="link" onClick={onClear}>
            {t.clearSelection}
          </Button>
        </div>
      )}
      <FormDialog<{ tag: string }>
        open={tagging !== undefined}
        title={tagging === 'untag' ? t.removeTag : t.addTag}
        ok={tagging === 'untag' ? t.removeTag : t.addTag}
        danger={false}
        form={form}
        onSubmit={async ({ tag }) => tagging && run(tagging, tag.trim())}
        onClose={() => setAsking(undefined)}
      >
        <Form.Item
          name="tag"
          label={t.tag}
          rules={[{ required: true, whitespace: true, message: t.tagNeeded(linkLimits.tagLength) }]}
        >
          <Input maxLength={linkLimits.tagLength} />
        </Form.Item>
      </FormDialog>
      <Confirm
        open={confirming !== undefined}
        danger={confirming !== 'resume'}
        title={
          confirming === 'delete' ? t.deleteTitle : confirming === 'pause' ? t.pauseTitle : t.resumeTitle
        }
        consequence={
          confirming === 'delete'
            ? t.deleteText(selected.size)
            : confirming === 'pause'
              ? t.pauseText(selected.size)
              : t.resumeText(selected.size)
        }
        ok={confirming === 'delete' ? t.remove : confirming === 'pause' ? t.pause : t.resume}
        onClose={() => setAsking(undefined)}
        onConfirm={async () => confirming && run(confirming)}
      />
    </>
  )
}
