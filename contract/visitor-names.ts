// Display names of visitors' systems, devices, apps, browsers and referrers.
import { scanReferrer } from './link-qr.ts'
import type { Text } from './text.ts'

const other: Text = { zh: '其他', en: 'Other' }

const same = (name: string): Text => ({ zh: name, en: name })

export const deviceNames: Readonly<Record<string, Text>> = {
  phone: { zh: '手机', en: 'Phone' },
  mobile: { zh: '手机', en: 'Phone' },
  tablet: { zh: '平板', en: 'Tablet' },
  desktop: { zh: '电脑', en: 'Computer' },
  other,
}

export const osNames: Readonly<Record<string, Text>> = {
  ios: same('iOS'),
  android: same('Android'),
  harmony: { zh: '鸿蒙', en: 'HarmonyOS' },
  windows: same('Windows'),
  macos: same('macOS'),
  linux: same('Linux'),
}

/** Browsers, and the apps that open links themselves. */
export const browserNames: Readonly<Record<string, Text>> = {
  wechat: { zh: '微信', en: 'WeChat' },
  alipay: { zh: '支付宝', en: 'Alipay' },
  dingtalk: { zh: '钉钉', en: 'DingTalk' },
  feishu: { zh: '飞书', en: 'Feishu' },
  douyin: { zh: '抖音', en: 'Douyin' },
  kuaishou: { zh: '快手', en: 'Kuaishou' },
  weibo: { zh: '微博', en: 'Weibo' },
  qq: same('QQ'),
  baidu: { zh: '百度', en: 'Baidu' },
  uc: same('UC'),
  huawei: { zh: '华为浏览器', en: 'Huawei' },
  xiaomi: { zh: '小米浏览器', en: 'Xiaomi' },
  oppo: same('OPPO'),
  vivo: same('vivo'),
  samsung: { zh: '三星浏览器', en: 'Samsung' },
  opera: same('Opera'),
  edge: same('Edge'),
  firefox: same('Firefox'),
  chrome: same('Chrome'),
  safari: same('Safari'),
  ie: same('Internet Explorer'),
  other,
}

/** `*` is the sum of all referrers beyond the limit that is counted individually. */
export const referrerNames: Readonly<Record<string, Text>> = {
  '*': { zh: '其他来源', en: 'Other' },
  [scanReferrer]: { zh: '扫码', en: 'QR scan' },
}
