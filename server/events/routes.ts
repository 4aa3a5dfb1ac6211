// The page behind the unsubscribe link of an alert mail. It works without signing in, with one click.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Text } from '../../contract/text.ts'
import { languageOf } from '../http/call.ts'
import { pageIn, visitorPageHeaders } from '../http/visitor-page.ts'
import type { Alerts } from './alerts.ts'

const headers = { ...visitorPageHeaders(`'self'`), vary: 'accept-language' }

interface UnsubscribeParams {
  readonly Params: { readonly id: string; readonly token: string }
}

const texts = {
  ask: { zh: '不再接收告警邮件？', en: 'Stop receiving alerts?' },
  askText: {
    zh: '退订后，此邮箱不再收到 Tollgate 的告警。',
    en: 'This address then receives no more alerts from Tollgate.',
  },
  button: { zh: '退订', en: 'Unsubscribe' },
  done: { zh: '已退订', en: 'Unsubscribed' },
  doneText: {
    zh: '此邮箱不再收到告警。可以在控制台的“事件通知”页重新添加。',
    en: 'This address receives no more alerts. You can add it again on the Events page of the console.',
  },
} as const satisfies Record<string, Text>

export function registerEventRoutes(api: FastifyInstance, alerts: Alerts): void {
  const path = '/alerts/unsubscribe/:id/:token'
  // Mail programs open links by themselves, so the link only shows a button.
  api.get<UnsubscribeParams>(path, (request, reply) =>
    sendPage(request, reply, texts.ask, texts.askText, texts.button),
  )
  api.post<UnsubscribeParams>(path, async (request, reply) => {
    const { id, token } = request.params
    const isDone = await alerts.unsubscribe(/^\d{1,15}$/.test(id) ? Number(id) : 0, token)
    return isDone ? sendPage(request, reply, texts.done, texts.doneText) : reply.callNotFound()
  })
}

function sendPage(
  request: Pick<FastifyRequest, 'raw'>,
  reply: FastifyReply,
  heading: Text,
  text: Text,
  button?: Text,
): FastifyReply {
  const language = languageOf(request.raw)
  const form = button ? `<form method="post"><button>${button[language]}</button></form>` : ''
  const content = `<h1>${heading[language]}</h1><p>${text[language]}</p>${form}`
  return reply
    .code(200)
    .headers(headers)
    .send(pageIn(language, heading[language], content))
}
