// How a marketplace API is called and read, as data: four presets, and a custom shape in IDENTITY_MARKET_SHAPE.
//
// The same digit means opposite things at different providers, so each preset has its own table, and a value outside the
// table is not a verdict.
import { type ExtraKey, extraKeys } from '../../../contract/identity.ts'
import { isRecord } from '../../../contract/values.ts'

/** `source_failed`: the register did not respond. `not_taken`: this API does not accept the name or number. */
export const marketVerdicts = ['match', 'mismatch', 'no_record', 'source_failed', 'not_taken'] as const

export type MarketVerdict = (typeof marketVerdicts)[number]

export interface MarketShape {
  readonly method: 'GET' | 'POST'
  readonly fieldsIn: 'query' | 'form' | 'json'
  readonly nameField: string
  readonly numberField: string
  /** Values that must be present at these paths, as text, before the verdict counts. */
  readonly requires: Readonly<Record<string, string>>
  readonly verdictAt: string
  readonly verdicts: Readonly<Record<string, MarketVerdict>>
  /** The paths of each key of `extra`; the first one present is used. */
  readonly facts: Readonly<Partial<Record<ExtraKey, readonly string[]>>>
}

/** Names that providers use. */
const aliases: Readonly<Record<ExtraKey, readonly string[]>> = {
  sex: ['sex', 'gender'],
  birthday: ['birthday', 'birth'],
  address: ['address', 'area', 'location'],
  age: ['age'],
  nation: ['nation'],
  province: ['province'],
  city: ['city'],
  district: ['district', 'county', 'prefecture', 'town'],
}

function aliasesUnder(path: string): MarketShape['facts'] {
  return Object.fromEntries(extraKeys.map((key) => [key, aliases[key].map((name) => `${path}.${name}`)]))
}

export const marketPresets = {
  idcert: {
    method: 'GET',
    fieldsIn: 'query',
    nameField: 'name',
    numberField: 'idCard',
    requires: {},
    verdictAt: 'status',
    verdicts: {
      '01': 'match',
      '02': 'mismatch',
      '202': 'no_record',
      '203': 'source_failed',
      '204': 'not_taken',
      '205': 'not_taken',
    },
    facts: aliases,
  },
  idenauthen: {
    method: 'POST',
    fieldsIn: 'form',
    nameField: 'name',
    numberField: 'idNo',
    requires: {},
    verdictAt: 'respCode',
    verdicts: { '0000': 'match', '0008': 'mismatch' },
    facts: aliases,
  },
  sxidcheck: {
    method: 'POST',
    fieldsIn: 'query',
    nameField: 'name',
    numberField: 'idCard',
    requires: { code: '0' },
    verdictAt: 'data.result',
    verdicts: { '1': 'match', '2': 'mismatch', '3': 'no_record' },
    facts: aliasesUnder('data'),
  },
  kzidcardv1: {
    method: 'POST',
    fieldsIn: 'form',
    nameField: 'name',
    numberField: 'idcard',
    requires: { code: '200', success: 'true' },
    verdictAt: 'data.result',
    verdicts: { '0': 'match', '1': 'mismatch', '2': 'no_record' },
    facts: aliasesUnder('data'),
  },
} as const satisfies Record<string, MarketShape>

/** Parses the setting. Without `facts` the usual names are used. */
export function parseMarketShape(
  given: string,
): { readonly value: MarketShape | undefined } | { readonly problem: string } {
  let shape: unknown
  try {
    shape = JSON.parse(given)
  } catch {
    return { problem: '不是 JSON / is not JSON' }
  }
  if (!isRecord(shape)) {
    return { problem: '必须是 JSON 对象 / must be a JSON object' }
  }
  const { requires = {}, facts = aliases, ...rest } = shape
  const invalid = findInvalidFields({ ...rest, requires, facts })
  if (invalid.length > 0) return { problem: `${invalid.join('、')} 有误 / these fields are wrong` }
  return { value: { ...rest, requires, facts } as unknown as MarketShape }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isOneOf = (allowed: readonly string[]) => (value: unknown) =>
  typeof value === 'string' && allowed.includes(value)

const fields: Readonly<Record<keyof MarketShape, (value: unknown) => boolean>> = {
  method: isOneOf(['GET', 'POST']),
  fieldsIn: isOneOf(['query', 'form', 'json']),
  nameField: isText,
  numberField: isText,
  requires: (value) => isRecord(value) && Object.values(value).every(isText),
  verdictAt: isText,
  verdicts: (value) =>
    isRecord(value) &&
    Object.values(value).every(isOneOf(marketVerdicts)) &&
    Object.values(value).includes('match'),
  facts: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([key, paths]) =>
        (extraKeys as readonly string[]).includes(key) && Array.isArray(paths) && paths.every(isText),
    ),
}

function findInvalidFields(shape: Record<string, unknown>): string[] {
  const unknown = Object.keys(shape).filter((name) => !Object.hasOwn(fields, name))
  const invalid = Object.entries(fields).filter(([name, isValid]) => !isValid(shape[name]))
  return [...unknown, ...invalid.map(([name]) => name)]
}
