// Whether a client accepts a response that is compressed with gzip.
import type { IncomingHttpHeaders } from 'node:http'

export function acceptsGzip(headers: IncomingHttpHeaders): boolean {
  return /\bgzip\b(?!;\s*q=0(?:\.0*)?(?:,|$))/.test(headers['accept-encoding'] ?? '')
}
