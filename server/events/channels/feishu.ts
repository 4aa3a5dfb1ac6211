// Feishu (Lark) custom bot.
import { createHmac } from 'node:crypto'
import type { Agent } from 'undici'
import type { AlertSender } from './port.ts'
import { callRobot, readCode } from './robot.ts'

/** The limits are 5 messages a second and 100 a minute. */
const intervalMs = 1_000
const throttled = [11_232]

export function createFeishu(agent: Agent): AlertSender {
  return {
    kind: 'feishu',
    intervalMs,
    send({ target, secret }, { title, text }, signal) {
      const timestamp = String(Math.floor(Date.now() / 1000))
      return callRobot({
        url: target,
        body: {
          ...(secret !== undefined && { timestamp, sign: signFeishu(timestamp, secret) }),
          msg_type: 'text',
          content: { text: `${title}\n${text}` },
        },
        agent,
        signal,
        codeOf: ({ code, StatusCode }) => readCode(code) ?? readCode(StatusCode),
        throttled,
      })
    },
  }
}

/** The key is the timestamp with the secret, and the message is empty. */
export function signFeishu(timestamp: string, secret: string): string {
  return createHmac('sha256', `${timestamp}\n${secret}`).update('').digest('base64')
}
