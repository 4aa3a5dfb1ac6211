// The paths of all console pages, for tests and screenshots.

export const accountPages = [
  '/',
  '/shortlink',
  '/shortlink?open=1',
  '/shortlink/domains',
  '/sms',
  '/sms?tab=send',
  '/sms?tab=records',
  '/identity',
  '/domain-check',
  '/domain-check?tab=runs',
  '/domain-check?tab=watch',
  '/credits',
  '/credits?redeem=1',
  '/requests',
  '/events',
  '/events?tab=alerts',
  '/keys',
  '/security',
  '/account',
] as const

export const operatorPages = [
  '/operator/overview',
  '/operator/accounts',
  '/operator/reviews',
  '/operator/codes',
  '/operator/domains',
  '/operator/abuse',
  '/operator/abuse?tab=bans',
  '/operator/gateways',
  '/operator/audit',
  '/operator/settings',
] as const
