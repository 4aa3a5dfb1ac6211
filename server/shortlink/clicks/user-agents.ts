// Who visits, read from the headers: a person, a bot, or a machine that only looks ahead.
import type { IncomingHttpHeaders } from 'node:http'
import { isbot } from 'isbot'

export type VisitKind = 'person' | 'bot' | 'preview'

/** One of a few dozen: what is counted together. */
export interface AgentClass {
  readonly kind: VisitKind
  readonly device: string
  readonly browser: string
}

export interface Agent {
  /** As sent; it only tells apart visitors from one address. */
  readonly text: string
  readonly usual: AgentClass
  /** The same program when it says that it only looks ahead. */
  readonly lookingAhead: AgentClass
}

/** Messengers and mail programs that fetch a link to draw a card of it. */
const previews =
  /facebookexternalhit|facebookcatalog|whatsapp|telegrambot|twitterbot|slackbot|slack-imgproxy|discordbot|linkedinbot|skypeuripreview|microsoftpreview|viber|line-poker|kakaotalk-scrap|pinterestbot|redditbot|mattermost|embedly|iframely|bitlybot|larkurl|feishu-?bot|dingtalkbot|wxwork-?preview|preview/i

const tablets = /ipad|tablet|playbook|silk|kindle|android(?!.*mobile)/i
const phones = /mobi|iphone|ipod|android|harmonyos|blackberry|opera mini|windows phone/i
const desktops = /windows nt|macintosh|x11|linux x86_64|cros/i

/** The first that fits: apps carry the names of the browsers they are made of. */
const browsers: readonly (readonly [string, RegExp])[] = [
  ['wechat', /micromessenger/i],
  ['alipay', /alipayclient/i],
  ['dingtalk', /dingtalk/i],
  ['feishu', /lark|feishu/i],
  ['douyin', /aweme|bytedancewebview|newsarticle|toutiao/i],
  ['kuaishou', /kwai|ksnebula/i],
  ['weibo', /weibo/i],
  ['qq', /\bqq\/|mqqbrowser|qqbrowser/i],
  ['baidu', /baiduboxapp|baidubrowser/i],
  ['uc', /ucbrowser|ubrowser/i],
  ['huawei', /huaweibrowser/i],
  ['xiaomi', /miuibrowser/i],
  ['oppo', /heytapbrowser/i],
  ['vivo', /vivobrowser/i],
  ['samsung', /samsungbrowser/i],
  ['opera', /opr\/|opera|opios/i],
  ['edge', /edga?\/|edgios|edge\//i],
  ['firefox', /firefox|fxios/i],
  ['chrome', /chrome|crios|chromium/i],
  ['safari', /safari/i],
  ['ie', /msie|trident/i],
]

/** Longer texts are cut: no browser sends so much, and patterns must not be fed a book. */
const textLimit = 512
const rememberedAgents = 2_000

/** Classes are few and shared, so that counters can compare them by identity. */
const classes = new Map<string, AgentClass>()

function classOf(kind: VisitKind, device: string, browser: string): AgentClass {
  const name = `${kind} ${device} ${browser}`
  let known = classes.get(name)
  if (!known) {
    known = { kind, device, browser }
    classes.set(name, known)
  }
  return known
}

export function describeAgent(given: string): Agent {
  const text = given.slice(0, textLimit)
  const device = deviceOf(text)
  const browser = browsers.find(([, pattern]) => pattern.test(text))?.[0] ?? 'other'
  const lookingAhead = classOf('preview', device, browser)
  if (text === '') return { text, usual: classOf('bot', 'other', 'other'), lookingAhead }
  if (previews.test(text)) return { text, usual: lookingAhead, lookingAhead }
  return { text, usual: classOf(isbot(text) ? 'bot' : 'person', device, browser), lookingAhead }
}

function deviceOf(text: string): string {
  if (tablets.test(text)) return 'tablet'
  if (phones.test(text)) return 'phone'
  return desktops.test(text) ? 'desktop' : 'other'
}

/** Reads agents and remembers the latest: there are many visits and few browsers. */
export function agentReader(): (text: string) => Agent {
  const known = new Map<string, Agent>()
  let last: Agent | undefined
  return (text) => {
    // Comparing with one is cheaper than finding the place of so long a text in a Map.
    if (last?.text === text) return last
    let agent = known.get(text)
    if (agent === undefined) {
      agent = describeAgent(text)
      if (known.size >= rememberedAgents) known.clear()
      known.set(agent.text, agent)
    }
    last = agent
    return agent
  }
}

/** Browsers that fetch a page before anyone asked for it say so, each generation in its own header. */
export function isLookingAhead(headers: IncomingHttpHeaders): boolean {
  const said = headers['sec-purpose'] ?? headers['purpose'] ?? headers['x-purpose'] ?? headers['x-moz']
  return said !== undefined && /prefetch|prerender|preview/i.test(String(said))
}

const hostCharacters = /^[a-z0-9.-]{1,100}$/

/** The host a visitor comes from; empty when unknown. Paths and queries of other sites are nobody's business. */
export function referrerHost(header: string | undefined): string {
  if (header === undefined) return ''
  const start = header.indexOf('://')
  if (start === -1) return ''
  let end = start + 3
  for (; end < header.length && end < start + 110; end += 1) {
    const unit = header.charCodeAt(end)
    if (unit === 0x2f || unit === 0x3a || unit === 0x3f || unit === 0x23) break
  }
  const host = header.slice(start + 3, end).toLowerCase()
  return hostCharacters.test(host) ? host : ''
}
