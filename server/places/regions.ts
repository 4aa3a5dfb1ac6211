// Names of countries and provinces in location data, and their ISO 3166 codes.
import { countryNames, provinces } from '../../contract/places.ts'

export interface Place {
  /** ISO 3166-1, two letters; empty when unknown. */
  readonly country: string
  /** ISO 3166-2 without `CN-`; empty when unknown or outside of China. */
  readonly province: string
}

export const unknownPlace: Place = { country: '', province: '' }

const provinceCodes = new Map(Object.entries(provinces).map(([code, { zh }]) => [zh, code]))

const suffix = /(特别行政区|壮族自治区|回族自治区|维吾尔自治区|自治区|省|市)$/

/** Empty when it is not a province. */
export function provinceCode(name: string): string {
  return provinceCodes.get(name.replace(suffix, '')) ?? ''
}

/** Names in the data that differ from those of CLDR. */
const otherNames: Readonly<Record<string, string>> = {
  捷克共和国: 'CZ',
  刚果民主共和国: 'CD',
  '刚果(金)': 'CD',
  刚果金: 'CD',
  刚果共和国: 'CG',
  刚果: 'CG',
  科特迪瓦: 'CI',
  波黑: 'BA',
  波斯尼亚和黑塞哥维那: 'BA',
  阿联酋: 'AE',
  阿拉伯联合酋长国: 'AE',
  沙特: 'SA',
  马其顿: 'MK',
  北马其顿: 'MK',
  斯洛文尼亚共和国: 'SI',
  吉尔吉斯坦: 'KG',
  特立尼达和多巴哥: 'TT',
  多米尼加共和国: 'DO',
  多米尼克: 'DM',
  巴布亚新几内亚: 'PG',
  中非共和国: 'CF',
  圣马力诺: 'SM',
  梵蒂冈: 'VA',
  大韩民国: 'KR',
  朝鲜: 'KP',
  缅甸: 'MM',
  文莱: 'BN',
  文莱达鲁萨兰国: 'BN',
  斯威士兰: 'SZ',
  库拉索: 'CW',
  库拉索岛: 'CW',
  荷属圣马丁: 'SX',
  法属圣马丁: 'MF',
  英属维尔京群岛: 'VG',
  美属维尔京群岛: 'VI',
  南苏丹: 'SS',
  瓦利斯和富图纳群岛: 'WF',
  马恩岛: 'IM',
  泽西岛: 'JE',
  根西岛: 'GG',
  孟加拉: 'BD',
  巴勒斯坦: 'PS',
  留尼旺: 'RE',
  圣马丁: 'MF',
  刚果布: 'CG',
  中非: 'CF',
  多米尼加: 'DO',
  托克劳群岛: 'TK',
  法国南部领地: 'TF',
  南乔治亚岛和南桑威奇群岛: 'GS',
  蒙塞拉特岛: 'MS',
  阿森松岛: 'SH',
  香港: 'HK',
  澳门: 'MO',
  台湾: 'TW',
}

let countryCodes: Map<string, string> | undefined

function loadCountries(): Map<string, string> {
  const codes = new Map<string, string>()
  for (const language of ['zh', 'en'] as const) {
    for (const [code, name] of countryNames(language)) {
      if (!codes.has(name.toLowerCase())) codes.set(name.toLowerCase(), code)
    }
  }
  for (const [name, code] of Object.entries(otherNames)) codes.set(name.toLowerCase(), code)
  return codes
}

/** Empty when the name is unknown. */
export function countryCode(name: string): string {
  countryCodes ??= loadCountries()
  return countryCodes.get(name.trim().toLowerCase()) ?? ''
}

/**
 * Hong Kong, Macao and Taiwan are provinces of CN here, as in the older data; newer data may name them as countries. Rules match
 * both codes.
 */
export function placeOf(country: string, province: string): Place {
  if (country === 'HK' || country === 'MO' || country === 'TW') return { country: 'CN', province: country }
  return country === '' ? unknownPlace : { country, province: country === 'CN' ? province : '' }
}

/**
 * The place of a region text. There are three formats: `国家|区域|省份|城市|ISP`, `国家|省份|城市|ISP`, and `Country|Province|City|ISP|CN`.
 * Missing parts are `0` or empty.
 */
export function readRegion(text: string): Place {
  const parts = text.split('|')
  const last = parts.at(-1) ?? ''
  const country = /^[A-Z]{2}$/.test(last) && parts.length === 5 ? last : countryCode(parts[0] ?? '')
  const province = provinceCode(parts[1] ?? '') || (parts.length === 5 ? provinceCode(parts[2] ?? '') : '')
  return placeOf(country, province)
}
