// How one marketplace API is asked and read, as data: four presets, and the operator's own in IDENTITY_MARKET_SHAPE.
//
// The same digit means opposite things at different hosts, so each has a table of its own and a value outside of it is
// no verdict.
import { isRecord } from '../../../contract/values.ts'
import { type ExtraKey, extraKeys } from '../../../contract/identity.ts'

/** `source_failed`: the register did not answer. `not_taken`: this API does not take the name or number. */
export const marketWords = ['match', 'mismatch', 'no_record', 'source_failed', 'not_taken'] as const

export type MarketWord = (typeof marketWords)[number]

export interface MarketShape {
  readonly method: 'GET' | 'POST'
  readonly fieldsIn: 'query' | 'form' | 'json'
  readonly nameField: string
  readonly numberField: string
  /** What must lie at these paths, as text, before the verdict counts. */
  readonly requires: Readonly<Record<string, string>>
  readonly verdictAt: string
  readonly verdicts: Readonly<Record<string, MarketWord>>
  /** Where each key of `extra` may be found; the first that is there is taken. */
  readonly facts: Readonly<Partial<Record<ExtraKey, readonly string[]>>>
}

/** The names upstreams have been seen to use. */
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

/** The setting's text as a shape, or what is wrong with it. `facts` may be left out: the usual names are looked for then. */
export function parseMarketShape(
  given: string,
): { readonly value: MarketShape | undefined } | { readonly problem: string } {
  let shape: unknown
  try {
    shape = JSON.parse(given)
  } catch {
    return { problem: '不是 JSON / is not JSON' }
  }
  if (typeof shape !== 'object' || shape === null || Array.isArray(shape)) {
    return { problem: '须为 JSON 对象 / must be a JSON object' }
  }
  const { requires = {}, facts = aliases, ...rest } = shape as Record<string, unknown>
  const wrong = wrongFields({ ...rest, requires, facts })
  if (wrong.length > 0) return { problem: `${wrong.join('、')} 有误 / these fields are wrong` }
  return { value: { ...rest, requires, facts } as unknown as MarketShape }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isOneOf = (words: readonly string[]) => (value: unknown) =>
  typeof value === 'string' && words.includes(value)

const fields: Readonly<Record<keyof MarketShape, (value: unknown) => boolean>> = {
  method: isOneOf(['GET', 'POST']),
  fieldsIn: isOneOf(['query', 'form', 'json']),
  nameField: isText,
  numberField: isText,
  requires: (value) => isRecord(value) && Object.values(value).every(isText),
  verdictAt: isText,
  verdicts: (value) =>
    isRecord(value) &&
    Object.values(value).every(isOneOf(marketWords)) &&
    Object.values(value).includes('match'),
  facts: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([key, paths]) =>
        (extraKeys as readonly string[]).includes(key) && Array.isArray(paths) && paths.every(isText),
    ),
}

function wrongFields(shape: Record<string, unknown>): string[] {
  const unknown = Object.keys(shape).filter((name) => !Object.hasOwn(fields, name))
  const wrong = Object.entries(fields).filter(([name, isRight]) => !isRight(shape[name]))
  return [...unknown, ...wrong.map(([name]) => name)]
}
