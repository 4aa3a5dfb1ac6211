// The navigation. Plain links, so that opening in a new tab works.
import {
  ApiOutlined,
  AuditOutlined,
  BookOutlined,
  CheckSquareOutlined,
  DashboardOutlined,
  GiftOutlined,
  GlobalOutlined,
  HomeOutlined,
  IdcardOutlined,
  KeyOutlined,
  LinkOutlined,
  MessageOutlined,
  NotificationOutlined,
  ProfileOutlined,
  SafetyCertificateOutlined,
  SettingOutlined,
  TeamOutlined,
  WalletOutlined,
} from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { useText } from './i18n.ts'
import { frameText } from './text.ts'

type FrameText = typeof frameText.zh

export interface NavigationItem {
  readonly to: string
  readonly label: keyof { [K in keyof FrameText as FrameText[K] extends string ? K : never]: true }
  readonly icon: ReactNode
}

export const accountItems: readonly NavigationItem[] = [
  { to: '/', label: 'home', icon: <HomeOutlined /> },
  { to: '/shortlink', label: 'shortlink', icon: <LinkOutlined /> },
  { to: '/sms', label: 'sms', icon: <MessageOutlined /> },
  { to: '/identity', label: 'identity', icon: <IdcardOutlined /> },
  { to: '/domain-check', label: 'domainCheck', icon: <SafetyCertificateOutlined /> },
  { to: '/credits', label: 'credits', icon: <WalletOutlined /> },
  { to: '/requests', label: 'requests', icon: <ProfileOutlined /> },
  { to: '/events', label: 'events', icon: <NotificationOutlined /> },
  { to: '/keys', label: 'keys', icon: <KeyOutlined /> },
  { to: '/docs', label: 'docs', icon: <BookOutlined /> },
]

export const operatorItems: readonly NavigationItem[] = [
  { to: '/operator/overview', label: 'overview', icon: <DashboardOutlined /> },
  { to: '/operator/accounts', label: 'accounts', icon: <TeamOutlined /> },
  { to: '/operator/reviews', label: 'reviews', icon: <CheckSquareOutlined /> },
  { to: '/operator/codes', label: 'codes', icon: <GiftOutlined /> },
  { to: '/operator/domains', label: 'domains', icon: <GlobalOutlined /> },
  { to: '/operator/gateways', label: 'gateways', icon: <ApiOutlined /> },
  { to: '/operator/audit', label: 'audit', icon: <AuditOutlined /> },
  { to: '/operator/settings', label: 'settings', icon: <SettingOutlined /> },
]

interface NavigationProps {
  readonly operator: boolean
  readonly folded: boolean
  readonly onChosen?: () => void
}

export function Navigation({ operator, folded, onChosen }: NavigationProps): ReactNode {
  const t = useText(frameText)
  return (
    <nav aria-label={t.navigation} className={folded ? 'nav folded' : 'nav'}>
      <Items items={accountItems} folded={folded} onChosen={onChosen} />
      {operator && (
        <>
          <div className="nav-line">{folded ? '' : t.operator}</div>
          <Items items={operatorItems} folded={folded} onChosen={onChosen} />
        </>
      )}
    </nav>
  )
}

interface ItemsProps {
  readonly items: readonly NavigationItem[]
  readonly folded: boolean
  readonly onChosen: (() => void) | undefined
}

function Items({ items, folded, onChosen }: ItemsProps): ReactNode {
  const t = useText(frameText)
  return (
    <ul>
      {items.map(({ to, label, icon }) => (
        <li key={to}>
          <Tooltip title={folded ? t[label] : undefined} placement="right">
            <Link
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              activeProps={{ className: 'active', 'aria-current': 'page' }}
              aria-label={folded ? t[label] : undefined}
              onClick={onChosen}
            >
              {icon}
              {!folded && <span>{t[label]}</span>}
            </Link>
          </Tooltip>
        </li>
      ))}
    </ul>
  )
}
