// The navigation. Plain links, so that opening in a new tab works.
import {
  ApiOutlined,
  AuditOutlined,
  BookOutlined,
  CheckSquareOutlined,
  ContainerOutlined,
  DashboardOutlined,
  DownOutlined,
  FileDoneOutlined,
  FileTextOutlined,
  GiftOutlined,
  GlobalOutlined,
  HomeOutlined,
  IdcardOutlined,
  KeyOutlined,
  LinkOutlined,
  LockOutlined,
  MessageOutlined,
  NotificationOutlined,
  ProfileOutlined,
  ReconciliationOutlined,
  SafetyCertificateOutlined,
  SafetyOutlined,
  SendOutlined,
  SettingOutlined,
  ShoppingCartOutlined,
  StopOutlined,
  TeamOutlined,
  WalletOutlined,
} from '@ant-design/icons'
import { Link, useLocation } from '@tanstack/react-router'
import { Badge, Tooltip } from 'antd'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { type AreaName, areaOf, mayAccess, type OperatorRole } from '../../contract/console/roles.ts'
import { docsAddress } from '../../contract/docs-address.ts'
import type { Language } from '../../contract/text.ts'
import { useApiQuery } from '../api/hooks.ts'
import { type AccountPath, accountPages } from './boot.ts'
import { useLanguage, useText } from './i18n.ts'
import { setPreferences, usePreferences } from './preferences.ts'
import { useOperatorRole } from './rights.tsx'
import { frameText } from './text.ts'

type FrameText = typeof frameText.zh

type TextKey = keyof { [K in keyof FrameText as FrameText[K] extends string ? K : never]: true }

interface NavigationItem {
  readonly to: string
  readonly label: TextKey
  readonly icon: ReactNode
  /** A page outside the console. */
  readonly href?: (language: Language) => string
  /** Further words by which the search finds the page: pinyin with its initials, and synonyms. */
  readonly words: string
  /** Which operators see it, when the path does not say. */
  readonly area?: AreaName
}

interface NavigationGroup {
  /** The heading; the first group has none. */
  readonly label?: TextKey
  readonly items: readonly NavigationItem[]
}

const accountDetails: Readonly<Record<AccountPath, Omit<NavigationItem, 'to' | 'label'>>> = {
  '/': { icon: <HomeOutlined />, words: 'shouye sy dashboard' },
  '/shortlink': { icon: <LinkOutlined />, words: 'duanlianjie dlj url' },
  '/sms': { icon: <MessageOutlined />, words: 'duanxin dx template message' },
  '/identity': { icon: <IdcardOutlined />, words: 'shenfenheyan sfhy verify' },
  '/domain-check': { icon: <SafetyCertificateOutlined />, words: 'yumingjiance ymjc watch' },
  '/keys': { icon: <KeyOutlined />, words: 'miyao my token' },
  '/security': { icon: <LockOutlined />, words: 'anquan aq 2fa password mail' },
  '/requests': { icon: <ProfileOutlined />, words: 'qingqiujilu qqjl log' },
  '/events': { icon: <NotificationOutlined />, words: 'shijiantongzhi sjtz webhook' },
  '/docs': { href: docsAddress, icon: <BookOutlined />, words: 'jiekouwendang jkwd api' },
  '/credits': { icon: <WalletOutlined />, words: 'edu ed balance ledger' },
  '/buy': { icon: <ShoppingCartOutlined />, words: 'goumai gm chongzhi cz pay' },
  '/orders': { icon: <ContainerOutlined />, words: 'dingdan dd payment refund' },
  '/statements': { icon: <FileTextOutlined />, words: 'duizhangdan dzd zhangdan month' },
  '/invoices': { icon: <FileDoneOutlined />, words: 'fapiao fp kaipiao tax' },
}

/** A new page goes into the group where its user looks for it: products, account (development), billing. */
export const accountGroups: readonly NavigationGroup[] = accountPages.map(({ items, ...group }) => ({
  ...group,
  items: items.map(([to, label]) => ({ to, label, ...accountDetails[to] })),
}))

/** Daily work, selling, and running the installation. */
const operatorGroups: readonly NavigationGroup[] = [
  {
    label: 'operatorGroup',
    items: [
      { to: '/operator/overview', label: 'overview', icon: <DashboardOutlined />, words: 'zonglan zl' },
      { to: '/operator/accounts', label: 'accounts', icon: <TeamOutlined />, words: 'zhanghu zh customer' },
      {
        to: '/operator/reviews',
        label: 'reviews',
        icon: <CheckSquareOutlined />,
        words: 'shenhe sh approve',
      },
      {
        to: '/operator/sms',
        label: 'smsOperations',
        icon: <MessageOutlined />,
        words: 'duanxinguanli dxgl tongji moban template statistics',
      },
      {
        to: '/operator/abuse',
        label: 'abuse',
        icon: <StopOutlined />,
        words: 'fengjin fj jubao jb ban report',
        area: 'reviews',
      },
      { to: '/operator/audit', label: 'audit', icon: <AuditOutlined />, words: 'shenjirizhi sjrz' },
    ],
  },
  {
    label: 'salesGroup',
    items: [
      {
        to: '/operator/orders',
        label: 'allOrders',
        icon: <ContainerOutlined />,
        words: 'dingdan dd tuikuan income refund',
      },
      {
        to: '/operator/reconciliation',
        label: 'reconciliation',
        icon: <ReconciliationOutlined />,
        words: 'duizhang dz chayi bill difference',
        area: 'orders',
      },
      {
        to: '/operator/invoices',
        label: 'allInvoices',
        icon: <FileDoneOutlined />,
        words: 'fapiao fp kaipiao tax',
      },
      {
        to: '/operator/packages',
        label: 'packages',
        icon: <ShoppingCartOutlined />,
        words: 'taocan tc price sale',
      },
      {
        to: '/operator/codes',
        label: 'codes',
        icon: <GiftOutlined />,
        words: 'duihuanma dhm',
        area: 'redeem_codes',
      },
    ],
  },
  {
    label: 'systemGroup',
    items: [
      { to: '/operator/domains', label: 'domains', icon: <GlobalOutlined />, words: 'yumingchi ymc' },
      { to: '/operator/gateways', label: 'gateways', icon: <ApiOutlined />, words: 'wangguan wg provider' },
      {
        to: '/operator/webhooks',
        label: 'deliveries',
        icon: <SendOutlined />,
        words: 'shijiantoudi sjtd webhook event',
        area: 'overview',
      },
      {
        to: '/operator/tokens',
        label: 'tokens',
        icon: <SafetyOutlined />,
        words: 'lingpai lp role api program',
      },
      { to: '/operator/settings', label: 'settings', icon: <SettingOutlined />, words: 'shezhi sz' },
    ],
  },
]

/** The groups of an operator, without the pages that the role may not read. */
export function operatorGroupsFor(role: OperatorRole | undefined): readonly NavigationGroup[] {
  return operatorGroups
    .map((group) => ({ ...group, items: group.items.filter((item) => mayOpen(role, item)) }))
    .filter(({ items }) => items.length > 0)
}

function mayOpen(role: OperatorRole | undefined, { to, area }: NavigationItem): boolean {
  return role !== undefined && mayAccess(role, area ?? areaOf(to), 'read')
}

/** Whether the role may read the operator page at this path. */
export function mayOpenPath(role: OperatorRole | undefined, path: string): boolean {
  const items = operatorGroups.flatMap((group) => group.items)
  const item = items.find(({ to }) => path === to || path.startsWith(`${to}/`))
  return item === undefined ? role !== undefined : mayOpen(role, item)
}

interface NavigationProps {
  readonly operator: boolean
  readonly folded: boolean
  readonly onChosen?: () => void
}

export function Navigation({ operator, folded, onChosen }: NavigationProps): ReactNode {
  const t = useText(frameText)
  const waiting = useApiQuery(operatorRoutes.waiting, {}, { enabled: operator, refetchMs: 60_000 })
  const counts: Readonly<Record<string, number>> = {
    '/operator/reviews': waiting.data?.reviews ?? 0,
    '/operator/abuse': waiting.data?.reports ?? 0,
    '/operator/invoices': (waiting.data?.invoices ?? 0) + (waiting.data?.refunded_invoices ?? 0),
    '/operator/reconciliation': waiting.data?.payment_differences ?? 0,
  }
  const role = useOperatorRole()
  const groups = operator ? [...accountGroups, ...operatorGroupsFor(role)] : accountGroups
  const nav = useRef<HTMLElement>(null)
  const path = useLocation({ select: ({ pathname }) => pathname })
  // The navigation of an operator is longer than most screens.
  useEffect(() => {
    // Some browsers return a promise, which React would take for the end of the effect.
    nav.current?.querySelector('.active')?.scrollIntoView({ block: 'nearest' })
  }, [path, role])
  return (
    <nav ref={nav} aria-label={t.navigation} className={folded ? 'nav folded' : 'nav'}>
      {groups.map(({ label, items }) => (
        <Group
          key={label ?? ''}
          label={label}
          items={items}
          counts={counts}
          folded={folded}
          onChosen={onChosen}
        />
      ))}
    </nav>
  )
}

interface GroupProps extends ItemsProps {
  readonly label: TextKey | undefined
}

/** A group can be closed; the folded navigation shows all items, separated by lines. */
function Group({ label, ...items }: GroupProps): ReactNode {
  const t = useText(frameText)
  const { closedGroups } = usePreferences()
  const id = useId()
  if (label === undefined) return <Items {...items} />
  if (items.folded) {
    return (
      <>
        <div className="nav-line" />
        <Items {...items} />
      </>
    )
  }
  const isClosed = closedGroups.includes(label)
  const toggle = () =>
    setPreferences({
      closedGroups: isClosed ? closedGroups.filter((group) => group !== label) : [...closedGroups, label],
    })
  return (
    <>
      <button
        type="button"
        className="nav-group"
        aria-expanded={!isClosed}
        aria-controls={id}
        onClick={toggle}
      >
        {t[label]}
        <DownOutlined rotate={isClosed ? -90 : 0} />
      </button>
      <div id={id} hidden={isClosed}>
        <Items {...items} />
      </div>
    </>
  )
}

interface ItemsProps {
  readonly items: readonly NavigationItem[]
  /** What waits on a page, by its path. */
  readonly counts: Readonly<Record<string, number>>
  readonly folded: boolean
  readonly onChosen: (() => void) | undefined
}

function Items({ items, counts, folded, onChosen }: ItemsProps): ReactNode {
  const t = useText(frameText)
  const language = useLanguage()
  return (
    <ul>
      {items.map(({ to, href, label, icon }) => (
        <li key={to}>
          <Tooltip title={folded ? t[label] : undefined} placement="right">
            <Link
              to={to}
              {...(href === undefined
                ? {}
                : { href: href(language), target: '_blank', reloadDocument: true })}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              activeProps={{ className: 'active', 'aria-current': 'page' }}
              aria-label={folded ? t[label] : undefined}
              onClick={onChosen}
            >
              <Badge dot={folded && (counts[to] ?? 0) > 0}>{icon}</Badge>
              {!folded && <span>{t[label]}</span>}
              {!folded && (counts[to] ?? 0) > 0 && (
                <Badge className="nav-count" count={counts[to]} title={t.waiting(counts[to]!)} />
              )}
            </Link>
          </Tooltip>
        </li>
      ))}
    </ul>
  )
}
