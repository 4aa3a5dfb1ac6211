// Rejects changes that do not come from the console's own pages: they send JSON, from this origin.
import type { FastifyRequest } from 'fastify'
import { ConsoleProblem, notJson } from './problem.ts'

export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw notJson()
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
    en: 'The call comes from another site and was refused',
  })
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined
}

function hostOf(origin: string): string {
  return new URL(origin).host
}
