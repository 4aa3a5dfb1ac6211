// The left side: what there is, in the order of how often it is needed. Plain links, so that every browser gesture works.
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

type Words = typeof frameText.zh

export interface Place {
  readonly to: string
  readonly word: keyof { [K in keyof Words as Words[K] extends string ? K : never]: true }
  readonly icon: ReactNode
}

export const accountPlaces: readonly Place[] = [
  { to: '/', word: 'home', icon: <HomeOutlined /> },
  { to: '/shortlink', word: 'shortlink', icon: <LinkOutlined /> },
  { to: '/sms', word: 'sms', icon: <MessageOutlined /> },
  { to: '/identity', word: 'identity', icon: <IdcardOutlined /> },
  { to: '/domain-check', word: 'domainCheck', icon: <SafetyCertificateOutlined /> },
  { to: '/credits', word: 'credits', icon: <WalletOutlined /> },
  { to: '/requests', word: 'requests', icon: <ProfileOutlined /> },
  { to: '/keys', word: 'keys', icon: <KeyOutlined /> },
  { to: '/docs', word: 'docs', icon: <BookOutlined /> },
]

export const operatorPlaces: readonly Place[] = [
  { to: '/operator/overview', word: 'overview', icon: <DashboardOutlined /> },
  { to: '/operator/accounts', word: 'accounts', icon: <TeamOutlined /> },
  { to: '/operator/reviews', word: 'reviews', icon: <CheckSquareOutlined /> },
  { to: '/operator/codes', word: 'codes', icon: <GiftOutlined /> },
  { to: '/operator/domains', word: 'domains', icon: <GlobalOutlined /> },
  { to: '/operator/gateways', word: 'gateways', icon: <ApiOutlined /> },
  { to: '/operator/audit', word: 'audit', icon: <AuditOutlined /> },
  { to: '/operator/settings', word: 'settings', icon: <SettingOutlined /> },
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
      <Places places={accountPlaces} folded={folded} onChosen={onChosen} />
      {operator && (
        <>
          <div className="nav-line">{folded ? '' : t.operator}</div>
          <Places places={operatorPlaces} folded={folded} onChosen={onChosen} />
        </>
      )}
    </nav>
  )
}

interface PlacesProps {
  readonly places: readonly Place[]
  readonly folded: boolean
  readonly onChosen: (() => void) | undefined
}

function Places({ places, folded, onChosen }: PlacesProps): ReactNode {
  const t = useText(frameText)
  return (
    <ul>
      {places.map(({ to, word, icon }) => (
        <li key={to}>
          <Tooltip title={folded ? t[word] : undefined} placement="right">
            <Link
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              activeProps={{ className: 'active', 'aria-current': 'page' }}
              aria-label={folded ? t[word] : undefined}
              onClick={onChosen}
            >
              {icon}
              {!folded && <span>{t[word]}</span>}
            </Link>
          </Tooltip>
        </li>
      ))}
    </ul>
  )
}
