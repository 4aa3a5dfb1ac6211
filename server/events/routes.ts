// The page behind the unsubscribe link of an alert mail. It works without signing in, with one click.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Alerts } from './alerts.ts'

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
}

interface UnsubscribeParams {
  readonly Params: { readonly id: string; readonly token: string }
}

export function registerEventRoutes(api: FastifyInstance, alerts: Alerts): void {
  const path = '/alerts/unsubscribe/:id/:token'
  // Mail programs open links by themselves, so the link only shows a button.
  api.get<UnsubscribeParams>(path, (_request, reply) =>
    sendPage(reply, 200, '<form method="post"><button>退订 / Unsubscribe</button></form>'),
  )
  api.post<UnsubscribeParams>(path, async ({ params }, reply) => {
    const id = /^\d{1,15}$/.test(params.id) ? Number(params.id) : 0
    return (await alerts.unsubscribe(id, params.token))
      ? sendPage(reply, 200, '<p>已退订 / Unsubscribed</p>')
      : reply.callNotFound()
  })
}

function sendPage(reply: FastifyReply, status: number, content: string): FastifyReply {
  const html = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Tollgate</title><style>body{font:16px system-ui;margin:4rem auto;max-width:24rem;text-align:center}</style>${content}`
  return reply.code(status).headers(headers).send(html)
}
