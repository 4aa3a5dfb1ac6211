// What an error says, in the language of the console.
import { ApiError } from '../api/client.ts'
import { asSentence } from '../api/sentence.ts'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

interface ErrorMessage {
  readonly message: string
  readonly requestId?: string | undefined
}

/** `isLoad`: data could not be read, so there is no input that could be lost. */
export function useErrorText(error: unknown, isLoad = false): ErrorMessage {
  const t = useText(partsText)
  if (!(error instanceof ApiError)) return { message: error instanceof Error ? error.message : String(error) }
  const { code, message, requestId } = error
  if (code === 'offline') return { message: isLoad ? t.offlineLoad : t.offline }
  if (code === 'unreadable') {
    return { message: isLoad ? t.unreadableLoad(message) : t.unreadable(message), requestId }
  }
  if (code === 'other_user') return { message: t.otherUser }
  if (code === 'missing') return { message: t.missing, requestId }
  // Without a form nothing is marked, so what is wrong has to be said here.
  const problems = Object.values(error.fields).filter((problem) => !message.includes(problem))
  if (problems.length === 0) return { message, requestId }
  return { message: `${message}${t.errorColon}${problems.map(asSentence).join(t.errorSeparator)}`, requestId }
}
