// The section of the reference about the clients.
import { clientSamples, sampleBaseUrl, sampleVersion } from '../../contract/client-samples.ts'
import type { Language, Text } from '../../contract/text.ts'
import type { Section } from './general-sections.ts'
import { codeBlock } from './highlight.ts'
import { type Html, html, sentence } from './html.ts'
import type { DocsContext } from './operations.ts'
import { tabs } from './tabs.ts'

export const clientsSection: Section = {
  id: 'clients',
  title: { zh: '客户端', en: 'Clients' },
  body: clientsBody,
}

const texts: readonly Text[] = [
  {
    zh: '平台提供五种语言的客户端，直接从本服务安装，除语言自带的库外没有其他依赖。客户端没有发布到各语言的软件仓库，那里的同名软件包与本平台无关。参数与返回字段的名称与本文档一致。',
    en: 'There are clients in five languages. Install them from this service; they need nothing but the standard library of the language. They are not published in the package indexes: a package of the same name there has nothing to do with this platform. Parameters and results have the names of this reference.',
  },
  {
    zh: '连接中断、超时和 429、503 等响应会自动重试，等待时间以 Retry-After 为准；收费的操作带 `Idempotency-Key`，重试不会重复扣费。错误含代码、说明与请求编号，并可验证 Webhook 的签名。',
    en: 'Lost connections, timeouts and responses such as 429 and 503 are retried as Retry-After asks; operations that cost credits are sent with an `Idempotency-Key`, so a retry is never charged twice. Errors have the code, the message and the request ID, and the signature of webhooks can be verified.',
  },
  {
    zh: '在一个空目录中依次执行：安装，保存程序，将 `demo` 换成您的用户名、`<API_KEY>` 换成您的密钥后运行。全部操作见安装目录中的 `README.md`。',
    en: 'In an empty folder: install, save the program, replace `demo` with your user name and `<API_KEY>` with your key, and run it. `README.md` of each client lists all operations.',
  },
]

const mcpText: Text = {
  zh: 'AI 助手可以通过 MCP（Model Context Protocol，streamable HTTP）调用全部操作，密钥放在 `Authorization` 请求头中。收费的工具注明消耗额度，并要求 `idempotency_key`，重复调用不会重复扣费。多数助手的配置写法：',
  en: 'AI assistants can call every operation through MCP (Model Context Protocol, streamable HTTP), with the key in the header `Authorization`. Tools that cost credits say so and require an `idempotency_key`, so that a repeated call is not charged twice. The configuration of most assistants:',
}

function mcpBody({ publicUrl, config }: DocsContext, language: Language): Html {
  if (config.MCP === 'off') return html``
  const server = { type: 'http', url: `${publicUrl}/mcp`, headers: { Authorization: 'Bearer <API_KEY>' } }
  return html`<h3 id="mcp">MCP</h3>
    <p>${sentence(mcpText[language])}</p>
    ${codeBlock(JSON.stringify({ mcpServers: { tollgate: server } }, null, 2), 'json')}`
}

function clientsBody(context: DocsContext, language: Language): Html {
  const { publicUrl, version } = context
  const zh = language === 'zh'
  const block = (text: string, code: string) =>
    codeBlock(text.replaceAll(sampleBaseUrl, publicUrl).replaceAll(sampleVersion, version), code)
  const clients = Object.entries(clientSamples).map(
    ([folder, { name, package: packageName, requires, install, file, code, run }]) => ({
      id: folder,
      name,
      body: html`<div class="panel">
        <p>
          ${zh ? `${name}：安装` : `${name}: install`}
          <code>${packageName}</code
          >${zh ? `，需要 ${requires} 或更高版本` : `, requires ${requires} or later`}
        </p>
        ${block(install, 'sh')}
        <p>${zh ? '保存为' : 'Save as'} <code>${file}</code></p>
        ${block(code, folder)}
        <p>${zh ? '运行' : 'Run'}</p>
        ${block(run, 'sh')}
      </div>`,
    }),
  )
  return html`
    ${texts.map((text) => html`<p>${sentence(text[language])}</p>`)} ${tabs('clients', clients)}
    ${mcpBody(context, language)}
  `
}
