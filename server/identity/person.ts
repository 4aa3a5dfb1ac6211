// The two parameters that make a person, read and checked in one step: everything wrong is named at once, nothing repeated.
import { identity } from '../../contract/identity.ts'
import { formatDay } from '../../contract/time.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { type InvalidParameter, parameterError, readParameters } from '../http/parameters.ts'
import { readName } from './name.ts'
import { readNumber } from './number.ts'
import type { Person } from './port.ts'

const { parameters } = identity.operations.verify
const all = { ...identity.common, ...parameters }

/** Without a key nobody can be told more than what is missing: all of it, then, and not only the key. */
export function requireKey(call: Call): void {
  const { missing } = readParameters(call.sources, all)
  if (missing.includes('api_key')) throw parameterError(missing, [])
}

export function requirePerson(call: Call): Person {
  const { values, missing, invalid } = readCallParameters(call, parameters)
  const { person, problems } = checkPerson(values)
  if (missing.length > 0 || invalid.length > 0 || !person) {
    throw parameterError(missing, [...invalid, ...problems])
  }
  return person
}

export interface CheckedPerson {
  /** Undefined when anything is missing or wrong. */
  readonly person: Person | undefined
  readonly problems: readonly InvalidParameter[]
}

/** What is missing is no problem here: whoever reads the parameters has said so already. */
function checkPerson(given: {
  readonly name?: string | undefined
  readonly idcard?: string | undefined
}): CheckedPerson {
  const name = given.name === undefined ? undefined : readName(given.name)
  const number = given.idcard === undefined ? undefined : readNumber(given.idcard, formatDay(Date.now()))
  const problems = [
    ...(name?.problems ?? []).map((text) => ({ name: 'name', text })),
    ...(number?.problems ?? []).map((text) => ({ name: 'idcard', text })),
  ]
  if (!name || name.problems || !number || number.problems) return { person: undefined, problems }
  return { person: { name: name.name, number: number.number }, problems }
}
