// Metrics of the queue of messages that wait to be sent.
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../../db/database.ts'
import { readForMetric } from '../../metric-reads.ts'
import { measureQueue } from './store.ts'

export function registerQueueMetrics(registry: Registry, db: Database): void {
  const messages = new Gauge({
    name: 'tollgate_sms_queue_messages',
    help: 'Messages of batches that wait to be sent, scheduled ones included',
    registers: [registry],
    aggregator: 'max',
    collect: () =>
      readForMetric(async () => {
        const measured = await measureQueue(db)
        messages.set(measured.messages)
        oldest.set(measured.oldestMs / 1000)
      }),
  })
  const oldest = new Gauge({
    name: 'tollgate_sms_queue_oldest_due_seconds',
    help: 'How long the oldest due message of a batch has waited; marketing batches are left out',
    registers: [registry],
    aggregator: 'max',
  })
}
