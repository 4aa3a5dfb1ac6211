// Reads and validates name and ID number, with one error for everything that is wrong.
import { identity } from '../../contract/identity.ts'
import { formatDay } from '../../contract/time.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { parameterError, readParameters } from '../http/parameters.ts'
import { readName } from './name.ts'
import { readNumber } from './number.ts'
import type { Person } from './port.ts'

const { parameters } = identity.operations.verify
const all = { ...identity.common, ...parameters }

/** Without a key the error names all missing parameters, not only the key. */
export function requireApiKey(call: Call): void {
  const { missing } = readParameters(call.sources, all)
  if (missing.includes('api_key')) throw parameterError(missing, [])
}

export function requirePerson(call: Call): Person {
  const { values, missing, invalid } = readCallParameters(call, parameters)
  // Absent when missing or not text, which is reported already.
  const { name: givenName, idcard } = values as Partial<typeof values>
  const name = givenName === undefined ? undefined : readName(givenName)
  const number = idcard === undefined ? undefined : readNumber(idcard, formatDay(Date.now()))
  const problems = [
    ...invalid,
    ...(name?.problems ?? []).map((text) => ({ name: 'name', text })),
    ...(number?.problems ?? []).map((text) => ({ name: 'idcard', text })),
  ]
  if (missing.length > 0 || invalid.length > 0 || !name || name.problems || !number || number.problems) {
    throw parameterError(missing, problems)
  }
  return { name: name.name, number: number.number }
}
