// DingTalk custom robot.
import { createHmac } from 'node:crypto'
import type { Agent } from 'undici'
import type { AlertSender } from './port.ts'
import { callRobot, readCode } from './robot.ts'

/** The limit is 20 messages a minute; beyond it DingTalk rejects messages for ten minutes. */
const intervalMs = 4_000
/** -1: the provider is busy. */
const throttled = [410_100, 660_026, 130_101, -1]

export function createDingtalk(agent: Agent): AlertSender {
  return {
    kind: 'dingtalk',
    intervalMs,
    send: ({ target, secret }, { title, text }, signal) =>
      callRobot({
        url: secret === undefined ? target : signDingtalkUrl(target, secret, Date.now()),
        body: { msgtype: 'text', text: { content: `${title}\n${text}` } },
        agent,
        signal,
        codeOf: ({ errcode }) => readCode(errcode),
        throttled,
      }),
  }
}

/** The signature is valid for an hour, so it is computed for every attempt. */
export function signDingtalkUrl(target: string, secret: string, timestamp: number): string {
  const sign = createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64')
  const url = new URL(target)
  url.searchParams.set('timestamp', String(timestamp))
  url.searchParams.set('sign', sign)
  return url.href
}
