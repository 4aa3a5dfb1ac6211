// Which operation an `action` means.
import type { Operation } from '../../contract/endpoint.ts'
import type { Call } from './call.ts'
import { AppError } from './errors.ts'

/** The name under which the contract knows the operation; an unknown action is refused. */
export function findOperation<const O extends Readonly<Record<string, Operation>>>(
  call: Call,
  operations: O,
  action: string,
): keyof O & string {
  const name = namesOf(operations).get(action)
  if (name === undefined) throw new AppError(1002, { zh: '无效的操作类型', en: 'Invalid action type' })
  call.trace.action = name
  return name
}

const known = new WeakMap<object, ReadonlyMap<string, string>>()

/** By every action that means one. Worked out once: operations are constants and calls are many. */
function namesOf(operations: Readonly<Record<string, Operation>>): ReadonlyMap<string, string> {
  let names = known.get(operations)
  if (!names) {
    names = new Map(
      Object.entries(operations).flatMap(([name, { actions }]) => actions.map((action) => [action, name])),
    )
    known.set(operations, names)
  }
  return names
}
