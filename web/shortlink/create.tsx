// Creating a link takes one field; the rest unfolds.
import { App, Button, Collapse, Form, Input, Modal, Select } from 'antd'
import { type ReactNode, useEffect } from 'react'
import { linkRoutes, type NewLink } from '../../contract/console/shortlink.ts'
import { usePrices, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { focusFirstField, showFieldErrors } from '../parts/form.ts'
import { StepError } from '../parts/step-error.tsx'
import { shortlinkText } from './text.ts'

interface CreateLinkProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onMade: (id: number) => void
}

export const webAddress = /^https?:\/\/[^\s/]+\S*$/i

export function CreateLink({ open, onClose, onMade }: CreateLinkProps): ReactNode {
  const words = useText(shortlinkText)
  const { message } = App.useApp()
  const prices = usePrices()
  const [form] = Form.useForm<NewLink>()
  const create = useTell(linkRoutes.create, { once: true })
  useEffect(() => {
    if (!open) create.reset()
  }, [open])
  const address = { pattern: webAddress, max: 2048, message: words.targetRule }
  return (
    <Modal
      open={open}
      title={words.create}
      footer={null}
      onCancel={onClose}
      afterOpenChange={(isOpen) => isOpen && focusFirstField('new-link')}
    >
      <Form
        id="new-link"
        name="new-link"
        form={form}
        layout="vertical"
        requiredMark={false}
        initialValues={{ redirect_type: 'direct' }}
        onFinish={({ target_url, title, redirect_type, redirect_url_a }) =>
          create.mutate(
            {
              sent: {
                target_url: target_url.trim(),
                ...(title ? { title } : {}),
                ...(redirect_type ? { redirect_type } : {}),
                ...(redirect_url_a ? { redirect_url_a } : {}),
              },
            },
            {
              onSuccess: ({ link }) => {
                form.resetFields()
                message.success(words.made)
                onClose()
                onMade(link.id)
              },
              onError: (error) => void showFieldErrors(form, error),
            },
          )
        }
      >
        <Form.Item
          name="target_url"
          label={words.target}
          extra={words.targetHint}
          rules={[{ required: true, message: words.targetRule }, address]}
        >
          <Input type="url" inputMode="url" placeholder="https://example.com/landing" maxLength={2048} />
        </Form.Item>
        <Collapse
          ghost
          size="small"
          items={[
            {
              key: 'more',
              label: words.more,
              forceRender: true,
              children: (
                <>
                  <Form.Item name="title" label={words.name} extra={words.nameHint}>
                    <Input maxLength={200} />
                  </Form.Item>
                  <Form.Item name="redirect_type" label={words.type}>
                    <Select
                      options={(['direct', 'permanent', 'page'] as const).map((value) => ({
                        value,
                        label: words[value],
                      }))}
                    />
                  </Form.Item>
                  <Form.Item
                    name="redirect_url_a"
                    label={words.urlA}
                    extra={words.urlAHint}
                    rules={[address]}
                  >
                    <Input type="url" inputMode="url" maxLength={2048} />
                  </Form.Item>
                </>
              ),
            },
          ]}
        />
        <div className="stack">
          <StepError error={create.error} />
          <div className="row-between">
            <span className="muted">{words.price(prices.generate)}</span>
            <Button type="primary" htmlType="submit" loading={create.isPending}>
              {words.create}
            </Button>
          </div>
        </div>
      </Form>
    </Modal>
  )
}
