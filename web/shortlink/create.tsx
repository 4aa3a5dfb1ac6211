// The form that creates a short link. Only the target is required.
import { Link } from '@tanstack/react-router'
import { App, Button, Collapse, Form, Input, Modal, Select } from 'antd'
import { type ReactNode, useEffect } from 'react'
import { linkRoutes, type NewLink } from '../../contract/console/shortlink.ts'
import { redirectTypes } from '../../contract/shortlink.ts'
import { usePrices, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { focusFirstField, showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { TargetField, targetLimits, titleLimits, useAddressRule } from './target-field.tsx'
import { shortlinkText } from './text.ts'

interface CreateLinkProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onCreated: (id: number) => void
}

export function CreateLink({ open, onClose, onCreated }: CreateLinkProps): ReactNode {
  const t = useText(shortlinkText)
  const { message } = App.useApp()
  const prices = usePrices()
  const [form] = Form.useForm<NewLink>()
  const target = (Form.useWatch('target_url', form) ?? '').trim()
  const create = useApiMutation(linkRoutes.create, { idempotent: true })
  useEffect(() => {
    if (!open) create.reset()
  }, [open])
  const address = useAddressRule()
  return (
    <Modal
      open={open}
      title={t.create}
      footer={null}
      onCancel={onClose}
      afterOpenChange={(isOpen) => isOpen && focusFirstField('new-link')}
    >
      <Form
        id="new-link"
        name="new-link"
        form={form}
        layout="vertical"
        initialValues={{ redirect_type: 'direct' }}
        onFinish={({ target_url, title, redirect_type, redirect_url_a }) =>
          create.mutate(
            {
              body: {
                target_url: target_url.trim(),
                ...(title ? { title } : {}),
                ...(redirect_type ? { redirect_type } : {}),
                ...(redirect_url_a ? { redirect_url_a } : {}),
              },
            },
            {
              onSuccess: ({ link }) => {
                form.resetFields()
                message.success(t.linkCreated)
                onClose()
                onCreated(link.id)
              },
              onError: (error) => void showFieldErrors(form, error),
            },
          )
        }
      >
        <TargetField />
        <Collapse
          ghost
          size="small"
          items={[
            {
              key: 'more',
              label: t.more,
              forceRender: true,
              children: (
                <>
                  <Form.Item name="title" label={t.name} extra={t.nameHint}>
                    <Input maxLength={titleLimits.maxLength} />
                  </Form.Item>
                  <Form.Item name="redirect_type" label={t.type}>
                    <Select
                      options={redirectTypes.map((value) => ({
                        value,
                        label: t[value],
                      }))}
                    />
                  </Form.Item>
                  <Form.Item name="redirect_url_a" label={t.urlA} extra={t.urlAHint} rules={[address]}>
                    <Input type="url" inputMode="url" maxLength={targetLimits.maxLength} />
                  </Form.Item>
                </>
              ),
            },
          ]}
        />
        <div className="stack">
          <ActionError error={create.error} />
          <Link to="/shortlink/new" search={target === '' ? {} : { target_url: target }}>
            {t.allOptions}
          </Link>
          <div className="row-between">
            <span className="muted">{t.price(prices.generate)}</span>
            <Button type="primary" htmlType="submit" loading={create.isPending}>
              {t.create}
            </Button>
          </div>
        </div>
      </Form>
    </Modal>
  )
}
