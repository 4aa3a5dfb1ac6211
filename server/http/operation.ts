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
  for (const name of Object.keys(operations)) {
    if (operations[name]?.actions.includes(action)) {
      call.notes.action = name
      return name
    }
  }
  throw new AppError(1002, { zh: '无效的操作类型', en: 'Invalid action type' })
}
