// The fields of one link: target, address, tags, limits of access and rules.
import { Button, Card, Form, Input, InputNumber, Select } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { ownDomainRoutes } from '../../contract/console/link-domains.ts'
import type { LinkDetail } from '../../contract/console/responses/shortlink.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { linkLimits, redirectTypes, shortCodePattern } from '../../contract/shortlink.ts'
import { parseTime } from '../../contract/time.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { formatCount } from '../parts/format.tsx'
import { readMoment } from '../parts/moment.ts'
import { TimeField } from '../parts/time-field.tsx'
import { builderText } from './builder-text.ts'
import type { LinkValues, RuleValues } from './link-form.ts'
import { RulesEditor } from './rules-editor.tsx'
import { TargetField, targetLimits, titleLimits, useAddressRule, webAddress } from './target-field.tsx'
import { shortlinkText } from './text.ts'

export function LinkFields({ link }: { link: LinkDetail | undefined }): ReactNode {
  const t = useText(builderText)
  const common = useText(shortlinkText)
  const tags = useApiQuery(linkRoutes.tags, {})
  const address = useAddressRule()
  const url = <Input type="url" inputMode="url" maxLength={targetLimits.maxLength} />
  return (
    <div className="stack">
      <Card size="small" title={<h2>{t.basics}</h2>}>
        <TargetField />
        <Form.Item name="title" label={common.name} extra={common.nameHint}>
          <Input maxLength={titleLimits.maxLength} />
        </Form.Item>
        <AddressFields link={link} />
      </Card>
      <Card size="small" title={<h2>{t.organise}</h2>}>
        <Form.Item
          name="tags"
          label={t.tags}
          extra={t.tagsHint(linkLimits.tags, linkLimits.tagLength)}
          rules={[{ validator: async (_rule, list: readonly string[]) => requireTags(list, t.tagsRule) }]}
        >
          <Select
            mode="tags"
            maxCount={linkLimits.tags}
            tokenSeparators={[',', '，']}
            options={(tags.data?.items ?? []).map((value) => ({ value }))}
          />
        </Form.Item>
        <Form.Item name="external_id" label={t.externalId} extra={t.externalIdHint}>
          <Input maxLength={linkLimits.externalIdLength} />
        </Form.Item>
      </Card>
      <Card size="small" title={<h2>{t.access}</h2>}>
        <div className="field-pairs">
          <Form.Item name="redirect_type" label={common.type}>
            <Select options={redirectTypes.map((value) => ({ value, label: common[value] }))} />
          </Form.Item>
          <Form.Item name="redirect_url_a" label={common.urlA} extra={common.urlAHint} rules={[address]}>
            {url}
          </Form.Item>
          <Form.Item
            name="expires_at"
            label={t.expiresAt}
            rules={[{ validator: async (_rule, text: string) => requireFuture(text, link, t) }]}
          >
            <TimeField />
          </Form.Item>
          <Form.Item
            name="max_clicks"
            label={t.maxClicks}
            extra={
              link?.remaining_clicks === null || link === undefined
                ? t.maxClicksHint
                : t.remaining(formatCount(link.remaining_clicks))
            }
          >
            <InputNumber style={{ width: '100%' }} min={1} max={linkLimits.maxClicks} precision={0} />
          </Form.Item>
        </div>
        <Form.Item name="expired_url" label={t.expiredUrl} extra={t.expiredUrlHint} rules={[address]}>
          {url}
        </Form.Item>
        <PasswordField hadPassword={link?.has_password === true} />
      </Card>
      <Card size="small" title={<h2>{t.rules}</h2>}>
        <Form.Item
          name="rules"
          validateTrigger="onSubmit"
          extra={t.rulesHint}
          style={{ marginBottom: 0 }}
          rules={[
            { validator: async (_rule, list: readonly RuleValues[]) => requireRules(list, t.noCondition) },
          ]}
        >
          <RulesEditor />
        </Form.Item>
      </Card>
    </div>
  )
}

async function requireTags(
  list: readonly string[],
  message: (max: number, length: number) => string,
): Promise<void> {
  const isValid =
    list.length <= linkLimits.tags &&
    list.every((tag) => tag.trim() !== '' && [...tag.trim()].length <= linkLimits.tagLength)
  if (!isValid) throw new Error(message(linkLimits.tags, linkLimits.tagLength))
}

/** An expired link keeps its time while something else is edited. */
async function requireFuture(
  text: string,
  link: LinkDetail | undefined,
  t: { readonly futureRule: string; readonly timeRule: string },
): Promise<void> {
  if (text.trim() === '') return
  const moment = readMoment(text)
  if (moment === undefined) throw new Error(t.timeRule)
  const at = parseTime(moment)!
  if (at <= Date.now() && at !== link?.expires_at) throw new Error(t.futureRule)
}

async function requireRules(list: readonly RuleValues[], message: string): Promise<void> {
  const isComplete = list.every(
    ({ conditions, target_url }) =>
      webAddress.test(target_url.trim()) && conditions.some(({ values }) => values.length > 0),
  )
  if (!isComplete) throw new Error(message)
}

function AddressFields({ link }: { link: LinkDetail | undefined }): ReactNode {
  const t = useText(builderText)
  const domains = useApiQuery(ownDomainRoutes.list, {})
  const verified = (domains.data?.items ?? []).filter(({ state }) => state !== 'unverified')
  const hosts = link && link.domain !== '' ? [link.domain] : verified.map(({ host }) => host)
  return (
    <div className="field-pairs">
      <Form.Item name="domain" label={t.domain} extra={link ? t.domainFixed : t.domainHint}>
        <Select
          disabled={link !== undefined}
          options={[
            { value: '', label: t.platformDomain },
            ...hosts.map((host) => ({ value: host, label: host })),
          ]}
        />
      </Form.Item>
      {link ? (
        <Form.Item name="short_code" label={t.code} extra={t.codeFixed}>
          <Input disabled className="mono" />
        </Form.Item>
      ) : (
        <CodeField />
      )}
    </div>
  )
}

const codePattern = new RegExp(shortCodePattern)

function CodeField(): ReactNode {
  const t = useText(builderText)
  const code = (Form.useWatch<string | undefined>('short_code') ?? '').trim()
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(code), 300)
    return () => clearTimeout(timer)
  }, [code])
  const isAsked = settled !== '' && settled === code && codePattern.test(code)
  const check = useApiQuery(linkRoutes.code, { short_code: settled }, { enabled: isAsked })
  const { min, max } = linkLimits.codeLength
  const answer = isAsked && !check.isPlaceholderData ? check.data : undefined
  const wrong = code !== '' && !codePattern.test(code)
  return (
    <Form.Item
      name="short_code"
      label={t.code}
      extra={answer?.available ? undefined : t.codeHint(min, max)}
      {...(wrong ? { validateStatus: 'error' as const, help: t.codeHint(min, max) } : {})}
      {...(answer?.available ? { validateStatus: 'success' as const, help: t.codeFree } : {})}
      {...(answer?.available === false ? { validateStatus: 'error' as const, help: answer.problem } : {})}
    >
      <Input className="mono" autoComplete="off" spellCheck={false} maxLength={max} />
    </Form.Item>
  )
}

function PasswordField({ hadPassword }: { hadPassword: boolean }): ReactNode {
  const t = useText(builderText)
  const form = Form.useFormInstance<LinkValues>()
  const keeps = Form.useWatch<boolean | undefined>('keeps_password') === true
  const { min, max } = linkLimits.passwordLength
  return (
    <>
      <Form.Item name="keeps_password" hidden>
        <Input />
      </Form.Item>
      <Form.Item
        name="password"
        label={t.password}
        extra={hadPassword ? (keeps ? t.hasPassword : t.willRemovePassword) : t.passwordHint(min, max)}
        rules={[
          {
            validator: async (_rule, text: string) => {
              const { length } = [...text]
              if (text !== '' && (length < min || length > max)) throw new Error(t.lengthRule(min, max))
            },
          },
        ]}
      >
        <Input.Password autoComplete="new-password" maxLength={max} />
      </Form.Item>
      {hadPassword && (
        <Button size="small" onClick={() => form.setFieldValue('keeps_password', !keeps)}>
          {keeps ? t.removePassword : t.keepPassword}
        </Button>
      )}
    </>
  )
}
