// The top bar: search, balances, language, theme, user menu.
import {
  BulbOutlined,
  DesktopOutlined,
  LogoutOutlined,
  MenuOutlined,
  MoonOutlined,
  SearchOutlined,
  SettingOutlined,
  SunOutlined,
  UserOutlined,
} from '@ant-design/icons'
import { Link, useNavigate } from '@tanstack/react-router'
import { Button, Dropdown, Tooltip } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { apiTypeNames } from '../../contract/credits.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import type { Me } from '../../contract/console/responses/session.ts'
import { useApiMutation } from '../api/hooks.ts'
import { formatCount, formatCompactCount } from '../parts/format.tsx'
import { lazyDialog } from '../parts/lazy-dialog.tsx'
import { shortTypeNames } from '../parts/names.ts'
import { setPreferences, type ThemeChoice, usePreferences } from './preferences.ts'
import { useLanguage, usePick, useText } from './i18n.ts'
import { frameText } from './text.ts'

const Search = lazyDialog(async () => (await import('./search.tsx')).Search, {
  isOpen: ({ open }) => open,
  close: ({ onClose }) => onClose(),
})

const isMac = /Mac|iP(hone|ad)/.test(navigator.userAgent)

export function TopBar({ me, onMenu }: { me: Me; onMenu: () => void }): ReactNode {
  const t = useText(frameText)
  const [searching, setSearching] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setSearching(true)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  const isOperator = me.user.role === 'operator' && !me.read_only
  return (
    <header className="frame-top">
      <Button
        className="hide-wide"
        type="text"
        icon={<MenuOutlined />}
        aria-label={t.openMenu}
        onClick={onMenu}
      />
      <div className="grow">
        <Button
          className="frame-search hide-narrow"
          icon={<SearchOutlined />}
          onClick={() => setSearching(true)}
        >
          <span className="clip">{t.search}</span>
          <kbd>{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
        </Button>
        <Button
          className="hide-wide"
          type="text"
          icon={<SearchOutlined />}
          aria-label={t.searchTitle}
          onClick={() => setSearching(true)}
        />
      </div>
      {/* Operators rarely have credits of their own. */}
      {!(isOperator && me.balances.every(({ total }) => total === 0)) && <Balances me={me} />}
      <LanguageSwitch />
      <ThemeSwitch />
      <UserMenu me={me} />
      <Search open={searching} operator={isOperator} onClose={() => setSearching(false)} />
    </header>
  )
}

/** The four balances in short form; the exact numbers are in the tooltip and on the credits page. */
function Balances({ me }: { me: Me }): ReactNode {
  const t = useText(frameText)
  const pick = usePick()
  const language = useLanguage()
  const exact = me.balances.map(
    ({ api_type, remaining }) => `${pick(apiTypeNames[api_type])} ${formatCount(remaining)}`,
  )
  return (
    <Tooltip title={exact.join(' · ')}>
      <Link to="/credits" className="pill hide-narrow">
        <span className="visually-hidden">{t.balances}</span>
        {me.balances.map(({ api_type, remaining }) => (
          <span key={api_type}>
            <span className="muted">{pick(shortTypeNames[api_type])}</span>
            {formatCompactCount(remaining, language)}
          </span>
        ))}
      </Link>
    </Tooltip>
  )
}

function LanguageSwitch(): ReactNode {
  const t = useText(frameText)
  const language = useLanguage()
  return (
    <Button
      type="text"
      title={t.language}
      onClick={() => setPreferences({ language: language === 'zh' ? 'en' : 'zh' })}
    >
      {language === 'zh' ? 'EN' : '中'}
    </Button>
  )
}

const themeIcons: Readonly<Record<ThemeChoice, ReactNode>> = {
  light: <SunOutlined />,
  dark: <MoonOutlined />,
  system: <DesktopOutlined />,
}

function ThemeSwitch(): ReactNode {
  const t = useText(frameText)
  const { theme } = usePreferences()
  const choices = ['light', 'dark', 'system'] as const
  return (
    <Dropdown
      trigger={['click']}
      menu={{
        selectedKeys: [theme],
        items: choices.map((key) => ({ key, label: t[key], icon: themeIcons[key] })),
        onClick: ({ key }) => setPreferences({ theme: choices.find((choice) => choice === key) ?? 'system' }),
      }}
    >
      <Button type="text" icon={<BulbOutlined />} aria-label={t.theme} />
    </Dropdown>
  )
}

function UserMenu({ me }: { me: Me }): ReactNode {
  const t = useText(frameText)
  const navigate = useNavigate()
  const signOut = useApiMutation(sessionRoutes.signOut)
  const { username } = me.user
  return (
    <Dropdown
      trigger={['click']}
      menu={{
        items: [
          { key: 'name', label: username, disabled: true, icon: <UserOutlined /> },
          { type: 'divider' },
          { key: 'settings', label: t.mySettings, icon: <SettingOutlined /> },
          { key: 'out', label: t.signOut, icon: <LogoutOutlined /> },
        ],
        onClick: ({ key }) => {
          if (key === 'settings') void navigate({ to: '/account' })
          // Loads a new document, so that no account data stays in memory.
          else if (key === 'out') {
            signOut.mutate({ body: {} }, { onSettled: () => window.location.assign('/console/sign-in') })
          }
        },
      }}
    >
      <Button type="text" icon={<UserOutlined />} aria-label={t.user(username)}>
        <span className="hide-narrow clip" style={{ maxWidth: 120 }}>
          {username}
        </span>
      </Button>
    </Dropdown>
  )
}
