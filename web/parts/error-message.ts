// What an error says, in the language of the console.
import { ApiError } from '../api/client.ts'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

interface ErrorMessage {
  readonly message: string
  readonly requestId?: string | undefined
}

export function useErrorText(error: unknown): ErrorMessage {
  const t = useText(partsText)
  if (!(error instanceof ApiError)) return { message: error instanceof Error ? error.message : String(error) }
  const { code, message, requestId } = error
  return { message: code === 'offline' ? t.offline : code === 'missing' ? t.missing : message, requestId }
}
