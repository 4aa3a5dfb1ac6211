// The section of the reference about webhooks.
import { eventTypes, webhookLimits } from '../../contract/events.ts'
import { verifySampleLanguages, verifySamples } from '../../contract/webhook-samples.ts'
import type { Language, Text } from '../../contract/text.ts'
import type { Section } from './general-sections.ts'
import { codeBlock } from './highlight.ts'
import { type Html, html, sentence, table } from './html.ts'
import type { DocsContext } from './operations.ts'
import { tabs } from './tabs.ts'

export const webhookSection: Section = {
  id: 'webhooks',
  title: { zh: '事件通知（Webhook）', en: 'Events (webhooks)' },
  body: webhookBody,
}

const verifyText: Text = {
  zh: '请使用收到的原始请求体，不要解析后重新序列化；请求头的名称为小写。平台的客户端已包含此函数。',
  en: 'Use the raw request body; do not parse and serialize it again. Header names are in lower case. The clients of the platform include this function.',
}

const example = `POST /webhook HTTP/1.1
content-type: application/json; charset=utf-8
webhook-id: evt_0f8b6c1f7a5e4d3c9b2a1f0e9d8c7b6a
webhook-timestamp: 1767323045
webhook-signature: v1,VZqaV5mgnAb6jWelFDCz63I0l6dTgndXGb9GWy6Sen8=

{"type":"sms.delivered","timestamp":"2026-01-02T11:04:05+08:00","data":{"biz_id":"…","phone_number":"13800138000"}}`

function webhookBody({ config }: DocsContext, language: Language): Html {
  const waits = config.WEBHOOK_RETRY_S.join(language === 'zh' ? '、' : ', ')
  const seconds = webhookLimits.timeoutMs / 1000
  const texts: readonly Text[] = [
    {
      zh: '在控制台的“事件通知”页添加接收地址，平台以 POST 请求发送 JSON。请求遵循 Standard Webhooks 规范，请用签名密钥验证每个请求。',
      en: 'Add an endpoint on the Events page of the console. The platform sends JSON in POST requests that follow Standard Webhooks; verify each with the signing secret.',
    },
    {
      zh: `请在 ${seconds} 秒内返回 2xx，否则依次等待 ${waits} 秒后重试；支持响应头 Retry-After；重定向视为失败；返回 410 或持续失败 5 天后，该地址会被停用。`,
      en: `Respond with 2xx within ${seconds} seconds; otherwise the request is repeated after ${waits} seconds. Retry-After is respected, a redirect counts as a failure, and 410 or 5 days of failures disable the endpoint.`,
    },
    {
      zh: '同一事件至少送达一次，重试时 `webhook-id` 不变，请据此去重；不保证顺序。',
      en: 'Every event is delivered at least once. Retries have the same `webhook-id`: use it to ignore duplicates. The order is not guaranteed.',
    },
  ]
  const rows = Object.entries(eventTypes).map(([type, text]) => [
    html`<code>${type}</code>`,
    html`${text[language]}`,
  ])
  const heading = language === 'zh' ? ['类型', '说明'] : ['Type', 'Description']
  return html`
    ${texts.map((text) => html`<p>${sentence(text[language])}</p>`)} ${codeBlock(example)}
    ${table(heading, rows)}
    <h3 id="webhook-signature">${language === 'zh' ? '验证签名' : 'Verify the signature'}</h3>
    <p>${sentence(verifyText[language])}</p>
    ${tabs(
      'verify',
      verifySampleLanguages.map((name) => {
        const id = name.toLowerCase().replace('.js', '')
        return { id, name, body: codeBlock(verifySamples[name], id) }
      }),
    )}
  `
}
