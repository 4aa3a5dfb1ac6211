// Settings of the web console.
import { choice, setting } from '../setting-parsers.ts'

export const consoleSettings = {
  SIGN_UP: setting(choice('off', 'on'), 'off', {
    zh: '是否开放注册账户',
    en: 'Allow sign-up in the console',
  }),
} as const
