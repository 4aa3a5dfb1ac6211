// WeCom group robot. It has no signature: the key in its URL is the credential.
import type { Agent } from 'undici'
import type { AlertSender } from './port.ts'
import { callRobot, cutToBytes, readCode } from './robot.ts'

/** The limit is 20 messages a minute. */
const intervalMs = 4_000
/** -1: the provider is busy. */
const throttled = [45_009, -1]
const maxTextBytes = 2_048

export function createWecom(agent: Agent): AlertSender {
  return {
    kind: 'wecom',
    intervalMs,
    send: ({ target }, { title, text }, signal) =>
      callRobot({
        url: target,
        body: { msgtype: 'text', text: { content: cutToBytes(`${title}\n${text}`, maxTextBytes) } },
        agent,
        signal,
        codeOf: ({ errcode }) => readCode(errcode),
        throttled,
      }),
  }
}
