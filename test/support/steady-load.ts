// Sends requests without a pause from a few clients and collects those that fail.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from './running-service.ts'

export interface SteadyLoad {
  /** Waits for `count` more responses. */
  responses(count: number): Promise<void>
  /** Ends the load. `failures` are those that were not a 2xx or 3xx response. */
  end(): Promise<{ readonly total: number; readonly failures: readonly string[] }>
}

export interface SteadyTarget {
  readonly path: string
  /** Sent as JSON with POST. */
  readonly body?: unknown
}

/** Of each target: some clients with keep-alive, unless `newConnections` is set, and one that connects anew. */
export function startSteadyLoad(
  url: string,
  targets: readonly SteadyTarget[],
  { newConnections = false } = {},
): SteadyLoad {
  let running = true
  let total = 0
  const failures: string[] = []
  const send = (agent: Agent | false, { path, body }: SteadyTarget) =>
    new Promise<string>((resolve, reject) => {
      const sent = request(
        `${url}${path}`,
        body === undefined
          ? { agent }
          : { agent, method: 'POST', headers: { 'content-type': 'application/json' } },
        (response) => {
          response.resume()
          response.on('end', () => resolve(String(response.statusCode)))
          response.on('error', reject)
        },
      )
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  const client = async (agent: Agent | false, target: SteadyTarget, pauseMs: number) => {
    while (running) {
      const status = await send(agent, target).catch(String)
      total += 1
      if (!/^[23]\d\d$/.test(status))
        failures.push(`${target.path} ${agent ? 'keep-alive' : 'new'}: ${status}`)
      if (pauseMs > 0) await sleep(pauseMs)
    }
    if (agent) agent.destroy()
  }
  const clients = targets.flatMap((target) => {
    if (newConnections) return [client(false, target, 5), client(false, target, 5)]
    return [
      client(new Agent({ keepAlive: true, maxSockets: 1 }), target, 0),
      client(new Agent({ keepAlive: true, maxSockets: 1 }), target, 0),
      // Idle most of the time: its connection must not be closed while a request is on its way.
      client(new Agent({ keepAlive: true, maxSockets: 1 }), target, 300),
      client(false, target, 5),
    ]
  })
  return {
    async responses(count) {
      const enough = total + count
      await until(() => total >= enough)
    },
    async end() {
      running = false
      await Promise.all(clients)
      return { total, failures }
    },
  }
}
