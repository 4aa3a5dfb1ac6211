// Classifies visits by their headers: person, bot or preview; device, browser and referring host.
import type { IncomingHttpHeaders } from 'node:http'
import { isbot } from 'isbot'

export type VisitKind = 'person' | 'bot' | 'preview'

/** Clicks are counted by these; there are a few dozen combinations. */
export interface Client {
  readonly kind: VisitKind
  readonly device: string
  readonly browser: string
}

export interface UserAgent {
  /** The header, used only to distinguish visitors with the same address. */
  readonly text: string
  readonly visitor: Client
  /** The same program when it prefetches. */
  readonly prefetcher: Client
  /** As in the rules of links; empty when unknown. */
  readonly os: string
  readonly app: string
  readonly ruleDevice: string
}

export function clientOf(agent: UserAgent, isPrefetching: boolean): Client {
  return isPrefetching ? agent.prefetcher : agent.visitor
}

/** Messengers and mail programs that fetch a link to show a preview. */
const previews =
  /facebookexternalhit|facebookcatalog|whatsapp|telegrambot|twitterbot|slackbot|slack-imgproxy|discordbot|linkedinbot|skypeuripreview|microsoftpreview|viber|line-poker|kakaotalk-scrap|pinterestbot|redditbot|mattermost|embedly|iframely|bitlybot|larkurl|feishu-?bot|dingtalkbot|wxwork-?preview|preview/i

const tablets = /ipad|tablet|playbook|silk|kindle|android(?!.*mobile)/i
const phones = /mobi|iphone|ipod|android|harmonyos|blackberry|opera mini|windows phone/i
const desktops = /windows nt|macintosh|x11|linux x86_64|cros/i

/** The first match counts: apps include the name of the browser they embed. */
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

/** The first match counts: phones with HarmonyOS and Android also name Linux. */
const systems: readonly (readonly [string, RegExp])[] = [
  ['harmony', /harmonyos|openharmony|arkweb/i],
  ['ios', /iphone|ipad|ipod/i],
  ['android', /android/i],
  ['windows', /windows/i],
  ['macos', /macintosh|mac os x/i],
  ['linux', /linux|x11|cros/i],
]

/** The embedded browsers of apps; a browser of the same company is another program. */
const apps: readonly (readonly [string, RegExp])[] = [
  ['wechat', /micromessenger/i],
  ['alipay', /alipayclient/i],
  ['dingtalk', /dingtalk/i],
  ['feishu', /lark|feishu/i],
  ['douyin', /aweme|douyin/i],
  ['weibo', /weibo/i],
  ['qq', /\bqq\//i],
]

function firstMatch(list: readonly (readonly [string, RegExp])[], text: string): string {
  return list.find(([, pattern]) => pattern.test(text))?.[0] ?? ''
}

const ruleDevices: Readonly<Record<string, string>> = {
  phone: 'mobile',
  tablet: 'tablet',
  desktop: 'desktop',
}

/** Longer headers are cut, to bound the work of the patterns. */
const maxTextLength = 512
const maxCachedAgents = 2_000

export function describeAgent(header: string): UserAgent {
  const text = header.slice(0, maxTextLength)
  const device = deviceOf(text)
  const browser = firstMatch(browsers, text) || 'other'
  const prefetcher: Client = { kind: 'preview', device, browser }
  const common = {
    text,
    prefetcher,
    os: firstMatch(systems, text),
    app: firstMatch(apps, text),
    ruleDevice: ruleDevices[device] ?? '',
  }
  if (text === '') return { ...common, visitor: { kind: 'bot', device: 'other', browser: 'other' } }
  if (previews.test(text)) return { ...common, visitor: prefetcher }
  return { ...common, visitor: { kind: isbot(text) ? 'bot' : 'person', device, browser } }
}

function deviceOf(text: string): string {
  if (tablets.test(text)) return 'tablet'
  if (phones.test(text)) return 'phone'
  return desktops.test(text) ? 'desktop' : 'other'
}

/** Returns a cached reader: there are many visits and few browsers. */
export function createAgentReader(): (header: string) => UserAgent {
  const cache = new Map<string, UserAgent>()
  return (header) => {
    let agent = cache.get(header)
    if (agent === undefined) {
      agent = describeAgent(header)
      if (cache.size >= maxCachedAgents) cache.clear()
      // By the cut text: a flood of long headers must not fill the memory.
      cache.set(agent.text, agent)
    }
    return agent
  }
}

/** Whether a browser fetches the link before the user opens it. Each generation of browsers has its header for this. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purpose = headers['sec-purpose'] ?? headers['purpose'] ?? headers['x-purpose'] ?? headers['x-moz']
  return purpose !== undefined && /prefetch|prerender|preview/i.test(String(purpose))
}

const hostCharacters = /^[a-z0-9.-]{1,100}$/

/** The host of the Referer header, empty when unknown. Its path and query may hold personal data. */
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
