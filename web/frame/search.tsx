// Ctrl/⌘ K: pages, calls by id, phone, biz_id or short code, accounts for operators. All by keyboard.
import { SearchOutlined } from '@ant-design/icons'
import { useNavigate } from '@tanstack/react-router'
import { Input, Modal } from 'antd'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { searchRoutes } from '../../contract/console/requests.ts'
import { useApiQuery } from '../api/hooks.ts'
import { accountPlaces, operatorPlaces } from './navigation.tsx'
import { useText } from './i18n.ts'
import { frameText } from './text.ts'

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

export function Search({ open, operator, onClose }: SearchProps): ReactNode {
  const t = useText(frameText)
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState('')
  const [at, setAt] = useState(0)
  const chosen = useRef<Choice>(undefined)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), 250)
    return () => clearTimeout(timer)
  }, [typed])
  useEffect(() => {
    if (!open) setTyped('')
  }, [open])
  useEffect(() => setAt(0), [typed, open])
  const hits = useApiQuery(searchRoutes.search, { q: asked }, { enabled: open && asked.length >= 3 })

  const wanted = typed.trim().toLowerCase()
  const places = [...accountPlaces, ...(operator ? operatorPlaces : [])]
    .map(({ to, word }) => ({ to, title: t[word] }))
    .filter(({ to, title }) => title.toLowerCase().includes(wanted) || to.includes(wanted))
  const choices: readonly Choice[] = [
    ...(asked.length >= 3 && wanted !== '' ? (hits.data?.items ?? []) : []).map(
      ({ kind, id, title, detail }): Choice => ({
        key: `${kind}${id}`,
        group: kind === 'account' ? t.accounts : t.calls,
        title,
        detail,
        to: kind === 'account' ? '/operator/accounts' : '/requests',
        search: { open: id },
      }),
    ),
    ...places.map(({ to, title }): Choice => ({
      key: to,
      group: t.pages,
      title,
      detail: '',
      to,
      search: {},
    })),
  ]

  const go = (choice: Choice | undefined) => {
    if (choice === undefined) return
    chosen.current = choice
    onClose()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt((now) => Math.min(now + 1, choices.length - 1))
    else if (event.key === 'ArrowUp') setAt((now) => Math.max(now - 1, 0))
    else if (event.key === 'Enter') go(choices[at])
    else return
    event.preventDefault()
  }
  const hint = operator ? t.searchHintOperator : t.searchHint

  return (
    <Modal
      open={open}
      onCancel={onClose}
      footer={null}
      closable={false}
      title={t.searchTitle}
      destroyOnHidden
      // Only then: a closing dialog gives the focus back, which what opens next must keep.
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
        aria-activedescendant={choices[at] ? `choice-${at}` : undefined}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKey}
      />
      <div id="search-choices" role="listbox" aria-label={t.searchTitle} className="choices">
        {choices.map((choice, index) => (
          <div
            key={choice.key}
            id={`choice-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={index === at ? 'choice on' : 'choice'}
            onMouseEnter={() => setAt(index)}
            onClick={() => go(choice)}
            onKeyDown={onKey}
          >
            <span className="muted small choice-group">{choice.group}</span>
            <span className="clip">{choice.title}</span>
            <span className="muted small clip">{choice.detail}</span>
          </div>
        ))}
        {choices.length === 0 && !hits.isFetching && <p className="muted">{t.searchNothing}</p>}
      </div>
    </Modal>
  )
}
