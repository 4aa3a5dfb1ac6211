// The pages that create and edit one link with all its options, beside a preview.
import { Link, useNavigate } from '@tanstack/react-router'
import { App, Button, Form } from 'antd'
import { type ReactNode, useMemo } from 'react'
import type { LinkDetail } from '../../contract/console/responses/shortlink.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { useApiMutation, useApiQuery, useMe, usePrices } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { builderText } from './builder-text.ts'
import { LinkFields } from './link-fields.tsx'
import { changeOf, emptyLink, fieldOf, type LinkValues, newLinkOf, valuesOf } from './link-form.ts'
import { LinkPreview } from './link-preview.tsx'
import { shortlinkText } from './text.ts'

export function NewLinkPage(): ReactNode {
  const t = useText(builderText)
  const common = useText(shortlinkText)
  const me = useMe()
  const prices = usePrices()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const [params] = useUrlState({ target_url: '' })
  const create = useApiMutation(linkRoutes.create, { idempotent: true })
  const initial = useMemo(() => ({ ...emptyLink, target_url: params.target_url }), [params.target_url])
  return (
    <Page back={<Link to="/shortlink">{t.back}</Link>} title={t.newTitle} lead={t.newLead}>
      <LinkForm
        initial={initial}
        link={undefined}
        canChange={me.data?.read_only === false}
        note={common.price(prices.generate)}
        ok={t.create}
        isBusy={create.isPending}
        error={create.error}
        onSubmit={(values, onError) =>
          create.mutate(
            { body: newLinkOf(values) },
            {
              onSuccess: ({ link }) => {
                message.success(t.created)
                void navigate({ to: '/shortlink', search: { open: String(link.id) } })
              },
              onError,
            },
          )
        }
      />
    </Page>
  )
}

export function EditLinkPage(): ReactNode {
  const t = useText(builderText)
  const [params] = useUrlState({ link: '' })
  const query = useApiQuery(linkRoutes.one, {}, { params: { id: params.link } })
  return (
    <Page
      back={
        <Link to="/shortlink" search={{ open: params.link }}>
          {t.back}
        </Link>
      }
      title={t.editTitle}
      lead={t.editLead}
    >
      <Loaded query={query}>{(link) => <EditForm key={link.id} link={link} />}</Loaded>
    </Page>
  )
}

function EditForm({ link }: { link: LinkDetail }): ReactNode {
  const t = useText(builderText)
  const me = useMe()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const change = useApiMutation(linkRoutes.change)
  // What is edited stays when the link is read again meanwhile.
  const initial = useMemo(() => valuesOf(link), [link.id])
  return (
    <LinkForm
      initial={initial}
      link={link}
      canChange={me.data?.read_only === false}
      note={t.free}
      ok={t.save}
      isBusy={change.isPending}
      error={change.error}
      onSubmit={(values, onError) => {
        const body = changeOf(initial, values)
        if (!body) return void message.info(t.unchanged)
        change.mutate(
          { body, params: { id: link.id } },
          {
            onSuccess: () => {
              message.success(t.saved)
              void navigate({ to: '/shortlink', search: { open: String(link.id) } })
            },
            onError,
          },
        )
      }}
    />
  )
}

interface LinkFormProps {
  readonly initial: LinkValues
  readonly link: LinkDetail | undefined
  readonly canChange: boolean
  /** What the change costs. */
  readonly note: string
  readonly ok: string
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (values: LinkValues, onError: (error: unknown) => void) => void
}

function LinkForm({ initial, link, canChange, note, ok, isBusy, error, onSubmit }: LinkFormProps): ReactNode {
  const t = useText(builderText)
  const [form] = Form.useForm<LinkValues>()
  const watched = Form.useWatch<LinkValues | undefined>([], form)
  const values = useMemo(() => ({ ...initial, ...watched }), [initial, watched])
  return (
    <div className="builder">
      <Form<LinkValues>
        name="link"
        form={form}
        layout="vertical"
        disabled={!canChange}
        initialValues={initial}
        scrollToFirstError
        onFinish={(sent) => {
          const all = { ...initial, ...sent }
          if (isConditional(all) && all.redirect_type === 'permanent') {
            form.setFields([{ name: 'redirect_type', errors: [t.permanentRule] }])
            form.scrollToField('redirect_type')
            return
          }
          onSubmit(all, (failure) => void showFieldErrors(form, failure, fieldOf))
        }}
      >
        <div className="stack">
          <LinkFields link={link} />
          <ActionError error={error} />
          <div className="form-foot">
            <span className="muted">{note}</span>
            <Button type="primary" htmlType="submit" loading={isBusy}>
              {ok}
            </Button>
          </div>
        </div>
      </Form>
      <LinkPreview values={values} link={link} />
    </div>
  )
}

/** A redirect that browsers remember cannot depend on anything. */
function isConditional(values: LinkValues): boolean {
  return (
    values.expires_at.trim() !== '' ||
    values.max_clicks !== null ||
    values.password !== '' ||
    values.keeps_password ||
    values.rules.length > 0
  )
}
