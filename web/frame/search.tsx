// The search dialog (Ctrl/⌘ K): pages and actions, titles of links and templates, API calls by request ID, phone, biz_id or short code,
// and accounts for operators.
import { SearchOutlined } from '@ant-design/icons'
import { useNavigate } from '@tanstack/react-router'
import { Input, Modal } from 'antd'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { searchRoutes } from '../../contract/console/requests.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { formatTime } from '../../contract/time.ts'
import { useApiQuery } from '../api/hooks.ts'
import { callText } from '../parts/names.ts'
import { accountGroups, operatorGroupsFor } from './navigation.tsx'
import { useOperatorRole } from './rights.tsx'
import { usePick, useText } from './i18n.ts'
import { frameText } from './text.ts'

const minQueryLength = 3
/** Titles are often two Chinese characters. */
const minTitleLength = 2
const maxTitles = 5

interface SearchProps {
  readonly open: boolean
  readonly operator: boolean
  readonly onClose: () => void
}

interface Choice {
  readonly key: string
  readonly group: string
  readonly title: string
  readonly detail: string
  readonly to: string
  readonly search: Readonly<Record<string, string>>
}

/** What users do most; each opens the page on which it is done. */
const actions = [
  { label: 'createLink', to: '/shortlink/new', search: {}, words: 'chuangjianduanlianjie cjdlj new' },
  { label: 'sendSms', to: '/sms', search: { tab: 'send' }, words: 'fasongduanxin fsdx message' },
  {
    label: 'watchDomain',
    to: '/domain-check',
    search: { tab: 'watch' },
    words: 'jiankongyuming jkym monitor',
  },
  { label: 'redeemCode', to: '/credits', search: { redeem: '1' }, words: 'shiyongduihuanma sydhm' },
  { label: 'resetKey', to: '/keys', search: {}, words: 'chongzhimiyao czmy' },
  { label: 'addWebhook', to: '/events', search: {}, words: 'tianjia webhook tj' },
] as const

export function Search({ open, operator, onClose }: SearchProps): ReactNode {
  const t = useText(frameText)
  const pick = usePick()
  const navigate = useNavigate()
  const role = useOperatorRole()
  const [input, setInput] = useState('')
  const [query, setQuery] = useState('')
  const [active, setActive] = useState(0)
  const chosen = useRef<Choice>(undefined)
  useEffect(() => {
    const timer = setTimeout(() => setQuery(input.trim()), 250)
    return () => clearTimeout(timer)
  }, [input])
  useEffect(() => {
    if (!open) setInput('')
  }, [open])
  useEffect(() => setActive(0), [input, open])
  const hits = useApiQuery(
    searchRoutes.search,
    { q: query },
    { enabled: open && query.length >= minQueryLength },
  )
  const byTitle = { q: query, size: maxTitles }
  const hasTitle = open && query.length >= minTitleLength
  const links = useApiQuery(linkRoutes.list, byTitle, { enabled: hasTitle })
  const templates = useApiQuery(smsRoutes.templates, byTitle, { enabled: hasTitle })

  const filter = input.trim().toLowerCase()
  const pages = [...accountGroups, ...(operator ? operatorGroupsFor(role) : [])]
    .flatMap(({ items }) => items)
    .map(({ to, label, words }) => ({ to, title: t[label], words }))
    .filter(({ to, title, words }) => `${title} ${to} ${words}`.toLowerCase().includes(filter))
  const choices: readonly Choice[] = [
    ...pages.map(({ to, title }): Choice => ({
      key: to,
      group: t.pages,
      title,
      detail: '',
      to,
      search: {},
    })),
    ...(hasTitle && filter !== '' ? (links.data?.items ?? []) : []).map(
      ({ id, title, target_url }): Choice => ({
        key: `link${id}`,
        group: t.shortlink,
        title,
        detail: target_url,
        to: '/shortlink',
        search: { open: String(id) },
      }),
    ),
    ...(hasTitle && filter !== '' ? (templates.data?.items ?? []) : []).map(({ id, name, code }): Choice => ({
      key: `template${id}`,
      group: t.template,
      title: name,
      detail: code,
      to: '/sms',
      search: { q: code },
    })),
    ...(query.length >= minQueryLength && filter !== '' ? (hits.data?.items ?? []) : []).map((hit): Choice =>
      hit.kind === 'account'
        ? {
            key: `account${hit.id}`,
            group: t.accounts,
            title: hit.username,
            detail: hit.role === 'operator' ? t.operator : '',
            to: `/operator/accounts/${hit.id}`,
            search: {},
          }
        : {
            key: `request${hit.id}`,
            group: t.calls,
            title: pick(callText(hit.endpoint, hit.action)),
            detail: formatTime(hit.at),
            to: '/requests',
            search: { open: hit.id },
          },
    ),
    ...actions
      .filter(({ label, words }) => filter !== '' && `${t[label]} ${words}`.toLowerCase().includes(filter))
      .map(({ label, to, search }): Choice => ({
        key: label,
        group: t.actions,
        title: t[label],
        detail: '',
        to,
        search,
      })),
  ]

  const go = (choice: Choice | undefined) => {
    if (choice === undefined) return
    chosen.current = choice
    onClose()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setActive((now) => Math.min(now + 1, choices.length - 1))
    else if (event.key === 'ArrowUp') setActive((now) => Math.max(now - 1, 0))
    else if (event.key === 'Enter') go(choices[active])
    else return
    event.preventDefault()
  }
  const isSearching = hits.isFetching || links.isFetching || templates.isFetching
  const hint = operator ? t.searchHintOperator : t.searchHint

  return (
    <Modal
      open={open}
      onCancel={onClose}
      footer={null}
      closable={false}
      title={t.searchTitle}
      destroyOnHidden
      // After closing, because the dialog moves the focus back to its opener.
      afterClose={() => {
        if (chosen.current) void navigate({ to: chosen.current.to, search: chosen.current.search })
        chosen.current = undefined
      }}
    >
      <Input
        autoFocus
        size="large"
        prefix={<SearchOutlined />}
        placeholder={hint}
        aria-label={hint}
        role="combobox"
        aria-expanded
        aria-controls="search-choices"
        aria-activedescendant={choices[active] ? `choice-${active}` : undefined}
        value={input}
        onChange={(event) => setInput(event.target.value)}
        onKeyDown={onKey}
      />
      <div id="search-choices" role="listbox" aria-label={t.searchTitle} className="choices">
        {choices.map((choice, index) => (
          <div
            key={choice.key}
            id={`choice-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className={index === active ? 'choice on' : 'choice'}
            onMouseEnter={() => setActive(index)}
            onClick={() => go(choice)}
            onKeyDown={onKey}
          >
            <span className="muted small choice-group">{choice.group}</span>
            <span className="clip">{choice.title}</span>
            <span className="muted small clip">{choice.detail}</span>
          </div>
        ))}
        {choices.length === 0 && !isSearching && <p className="muted">{t.searchNothing}</p>}
      </div>
    </Modal>
  )
}
