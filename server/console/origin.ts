// Rejects changes that do not come from the console's own pages: they send JSON or a file, from this origin.
import type { FastifyRequest } from 'fastify'
import { ConsoleProblem, notJson } from './problem.ts'

/** Types of files. Like JSON, a page of another site cannot send them without asking first (CORS). */
export const uploadTypes: readonly string[] = ['text/csv', 'application/octet-stream']

export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  const isUpload = 'takesFile' in request.routeOptions.config && uploadTypes.includes(type ?? '')
  if (type !== 'application/json' && !isUpload) throw notJson()
  const { origin, host } = request.headers
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') throw foreign()
  if (origin === undefined) return
  const isSameOrigin =
    origin === originOf(publicUrl) ||
    (host !== undefined && originOf(origin) !== undefined && hostOf(origin) === host)
  if (!isSameOrigin) throw foreign()
}

function foreign(): ConsoleProblem {
  return new ConsoleProblem('csrf', {
    zh: '请求来自其他网站，已拒绝',
    en: 'The request comes from another site and was rejected',
  })
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined
}

function hostOf(origin: string): string {
  return new URL(origin).host
}
