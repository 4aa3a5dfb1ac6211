// The section of the reference about the clients.
import { clientSamples, sampleBaseUrl } from '../../contract/client-samples.ts'
import type { Language, Text } from '../../contract/text.ts'
import type { Section } from './general-sections.ts'
import { codeBlock } from './highlight.ts'
import { type Html, html, sentence, table } from './html.ts'
import type { DocsContext } from './operations.ts'

export const clientsSection: Section = {
  id: 'clients',
  title: { zh: '客户端', en: 'Clients' },
  body: clientsBody,
}

const texts: readonly Text[] = [
  {
    zh: '五种语言的客户端在 Tollgate 源代码的 `sdk/` 目录中，各有安装说明，没有其他依赖。参数与返回字段的名称与本文档一致。',
    en: 'Clients in five languages are in the folder `sdk/` of the source code of Tollgate, each with instructions and without dependencies. Parameters and results have the names of this reference.',
  },
  {
    zh: '连接中断、超时和 429、503 等响应会自动重试，等待时间以 Retry-After 为准；收费的操作带 `Idempotency-Key`，重试不会重复扣费。错误含代码、说明与请求编号，并可验证 Webhook 的签名。',
    en: 'Lost connections, timeouts and responses such as 429 and 503 are retried as Retry-After asks; operations that cost credits are sent with an `Idempotency-Key`, so a retry is never charged twice. Errors have the code, the message and the request ID, and the signature of webhooks can be verified.',
  },
]

function clientsBody({ publicUrl }: DocsContext, language: Language): Html {
  const clients = Object.entries(clientSamples)
  const heading =
    language === 'zh' ? ['语言', '包', '最低版本', '目录'] : ['Language', 'Package', 'Requires', 'Folder']
  const tabs = clients.map(
    ([folder, { name }], index) =>
      html`<input
          type="radio"
          name="clients-code"
          id="clients-${folder}"
          ${index === 0 ? html` checked` : ''}
        /><label for="clients-${folder}">${name}</label>`,
  )
  const programs = clients.map(([, { code }]) => codeBlock(code.replace(sampleBaseUrl, publicUrl)))
  return html`
    ${texts.map((text) => html`<p>${sentence(text[language])}</p>`)}
    ${table(
      heading,
      clients.map(([folder, client]) => [
        client.name,
        html`<code>${client.package}</code>`,
        client.requires,
        html`<code>sdk/${folder}</code>`,
      ]),
    )}
    <div class="tabs">${tabs}${programs}</div>
  `
}
