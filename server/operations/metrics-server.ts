// The server of METRICS_PORT: serves the metrics and nothing else.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Config } from '../config.ts'
import { createServer } from '../http/node-http.ts'
import { closeUnusedConnections } from '../http/connection-timeouts.ts'
import { hasMetricsToken } from './health.ts'

export interface MetricsServer {
  listen(): Promise<void>
  close(): void
}

/** Undefined when METRICS_PORT is not set: then the service itself serves `/metrics`. */
export function createMetricsServer(
  config: Pick<Config, 'METRICS_PORT' | 'METRICS_TOKEN' | 'HOST' | 'SEND_TIMEOUT_S'>,
  metrics: { readonly type: string; readonly text: () => Promise<string> },
): MetricsServer | undefined {
  if (config.METRICS_PORT === 0) return undefined
  const server = createServer(respond)
  closeUnusedConnections(server, { sendMs: config.SEND_TIMEOUT_S * 1000 })

  function respond(request: IncomingMessage, response: ServerResponse): void {
    if (!hasMetricsToken(request, config.METRICS_TOKEN)) {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      return
    }
    void metrics.text().then(
      (text) => response.setHeader('content-type', metrics.type).end(text),
      () => response.writeHead(500).end(),
    )
  }

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(config.METRICS_PORT, config.HOST, () => {
          server.off('error', reject)
          resolve()
        })
      }),
    close: () => void server.close(),
  }
}
