// Passes connections on that were sent to a worker that ended before it accepted them. The cluster module of Node.js loses them, and
// their clients would wait indefinitely.
import cluster, { type Worker } from 'node:cluster'

/** The messages of the cluster module that matter here: a connection for a worker, and the worker's response. */
interface ClusterMessage {
  readonly act?: string
  readonly seq?: number
  readonly ack?: number
}

interface ConnectionHandle {
  close(): void
}

/** `hasOther` returns true if another worker is listening. Without one, the connections are closed. */
export function passOnUnacceptedConnections(worker: Worker, hasOther: () => boolean): void {
  const { process: child } = worker
  const unaccepted = new Map<number, ConnectionHandle>()
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  child.send = (message: unknown, handle?: unknown, ...rest: unknown[]) => {
    const { act, seq } = message as ClusterMessage
    if (act === 'newconn' && seq !== undefined) unaccepted.set(seq, handle as ConnectionHandle)
    return send(message, handle, ...rest)
  }
  child.on('internalMessage' as 'message', (message) => {
    const { ack } = message as ClusterMessage
    if (ack !== undefined) unaccepted.delete(ack)
  })
  const passOn = () => {
    // Responses that were sent before the end are still to be read.
    if (child.connected) {
      setImmediate(passOn)
      return
    }
    // With a connection on its way, Node.js does not emit this, and the cluster module would keep the worker.
    if (cluster.workers?.[worker.id]) child.emit('disconnect')
    for (const [seq, handle] of unaccepted) {
      // The response of a worker that is closing its server: the cluster module then takes the next worker.
      if (hasOther())
        child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: false }, undefined)
      else handle.close()
    }
    unaccepted.clear()
  }
  worker.once('exit', passOn)
}
