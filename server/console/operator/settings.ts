// The settings in use. Secrets are listed without their values.
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { type Config, settingGroups, settings } from '../../config.ts'
import type { Setting } from '../../setting-parsers.ts'
import type { Services } from '../../services.ts'
import type { Api } from '../routes.ts'

export function settingPages(api: Api, { config }: Services): void {
  api.operator(operatorRoutes.settings, async (request) => ({
    items: Object.entries<Setting<unknown>>(settings).map(([name, { text, secret, fallback }]) => {
      const value = config[name as keyof Config] as unknown
      return {
        name,
        group: groupOf(name)?.[request.language] ?? '',
        text: text[request.language],
        value: secret || value === undefined ? null : withoutPassword(formatValue(value)),
        secret,
        is_set: value !== undefined && formatValue(value) !== formatValue(fallback),
      }
    }),
  }))
}

function groupOf(name: string) {
  return settingGroups.find((group) => Object.hasOwn(group.settings, name))?.text
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    return value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(', ')
  }
  return value === undefined ? '' : JSON.stringify(value)
}

/** Any URL may contain a password. */
function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/\s@]*@/g, '//••••••@')
}
