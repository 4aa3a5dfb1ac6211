// The settings as they are in force. Secrets are named, never shown.
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { type Config, settings } from '../../config.ts'
import type { Setting } from '../../setting-parsers.ts'
import type { Services } from '../../services.ts'
import type { Api } from '../routes.ts'

export function settingPages(api: Api, { config }: Services): void {
  api.operator(operatorRoutes.settings, async (request) => ({
    items: Object.entries<Setting<unknown>>(settings).map(([name, { text, secret, fallback }]) => {
      const value = config[name as keyof Config] as unknown
      return {
        name,
        text: text[request.language],
        value: secret || value === undefined ? null : withoutPassword(shown(value)),
        secret,
        is_set: value !== undefined && shown(value) !== shown(fallback),
      }
    }),
  }))
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    return value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(', ')
  }
  return value === undefined ? '' : JSON.stringify(value)
}

/** An address may carry a password of its own, whatever setting it stands in. */
function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/\s@]*@/g, '//••••••@')
}
