// Provinces of China and countries of the world by their ISO 3166 codes.
import type { Language, Text } from './text.ts'

const provinceList =
  `BJ 北京 Beijing TJ 天津 Tianjin HE 河北 Hebei SX 山西 Shanxi NM 内蒙古 Inner-Mongolia LN 辽宁 Liaoning JL 吉林 Jilin
  HL 黑龙江 Heilongjiang SH 上海 Shanghai JS 江苏 Jiangsu ZJ 浙江 Zhejiang AH 安徽 Anhui FJ 福建 Fujian JX 江西 Jiangxi SD 山东 Shandong
  HA 河南 Henan HB 湖北 Hubei HN 湖南 Hunan GD 广东 Guangdong GX 广西 Guangxi HI 海南 Hainan CQ 重庆 Chongqing SC 四川 Sichuan
  GZ 贵州 Guizhou YN 云南 Yunnan XZ 西藏 Tibet SN 陕西 Shaanxi GS 甘肃 Gansu QH 青海 Qinghai NX 宁夏 Ningxia XJ 新疆 Xinjiang
  TW 台湾 Taiwan HK 香港 Hong-Kong MO 澳门 Macao`.split(/\s+/)

/** By the code of ISO 3166-2 without `CN-`. The Chinese names have no 省 or 市. */
export const provinces: Readonly<Record<string, Text>> = Object.fromEntries(
  Array.from({ length: provinceList.length / 3 }, (_one, index) => {
    const [code, zh, en] = provinceList.slice(3 * index, 3 * index + 3) as [string, string, string]
    return [code, { zh, en: en.replace('-', ' ') }]
  }),
)

/** Codes that CLDR knows besides those of ISO 3166-1: groups, former countries and names for tests. */
const notCountries = new Set(
  'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC JT MI NH NQ NT PC PU PZ QO QU RH SU TA TP UK UN VD WK XA XB XK YD YU ZR ZZ'.split(
    ' ',
  ),
)

const countries = new Map<Language, ReadonlyMap<string, string>>()

/** The names of all countries by their two letters, as the platform's own data has them. */
export function countryNames(language: Language): ReadonlyMap<string, string> {
  let names = countries.get(language)
  if (!names) countries.set(language, (names = loadCountries(language)))
  return names
}

function loadCountries(language: Language): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
  const found = new Map<string, string>()
  for (const code of letterPairs('A')) {
    const name = notCountries.has(code) ? undefined : names.of(code)
    if (name !== undefined) found.set(code, name)
  }
  return found
}

/** The names of languages by the two letters of ISO 639-1. */
export function languageNames(language: Language): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(language, { type: 'language', fallback: 'none' })
  const found = new Map<string, string>()
  for (const code of letterPairs('a')) {
    const name = names.of(code)
    if (name !== undefined) found.set(code, name)
  }
  return found
}

function* letterPairs(first: 'a' | 'A'): Generator<string> {
  const start = first.charCodeAt(0)
  for (let one = 0; one < 26; one += 1) {
    for (let two = 0; two < 26; two += 1) yield String.fromCharCode(start + one, start + two)
  }
}
