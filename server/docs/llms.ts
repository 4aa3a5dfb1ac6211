// /llms.txt: what the platform is and where its documentation is in Markdown (llmstxt.org).
import { errorCodes, errorExplanations } from '../../contract/codes.ts'
import { documentedEndpoints } from '../../contract/reference/interface.ts'
import type { DocsContext } from './operations.ts'

export function llmsText({ publicUrl, config }: DocsContext): string {
  const link = (title: string, path: string, text: string) => `- [${title}](${publicUrl}${path}): ${text}`
  const endpoints = documentedEndpoints.map(({ endpoint, title }) => {
    const operations = Object.values(endpoint.operations).map(({ text }) => text.en)
    return `- ${title.en} (${title.zh}): \`${endpoint.methods.join(', ')} ${endpoint.path}\`. ${operations.join('; ')}`
  })
  const mcp =
    config.MCP === 'off'
      ? ''
      : `\n- [MCP](${publicUrl}/docs/en/#mcp): every operation as a tool on ${publicUrl}/mcp (streamable HTTP), with the API key as a bearer token`
  return `# Tollgate

> Short links, template SMS, identity verification and domain block checks on one prepaid credit ledger. Calls are authenticated by a user name and an API key.

Base URL: ${publicUrl}. Messages are Chinese, or English with \`Accept-Language: en\`. Dates are in Asia/Shanghai.

## Endpoints

${endpoints.join('\n')}

## Documentation

${link('API reference', '/docs/en/index.md', 'every operation with parameters, responses, errors and examples')}
${link('接口文档', '/docs/index.md', 'the same in Chinese')}
${link('OpenAPI 3.1', '/openapi.json?lang=en', 'machine-readable definition')}
${link('Clients', '/docs/en/#clients', 'PHP, Python, Java, Go and Node.js, installed from this service, with a first call')}${mcp}
${link('Changes', '/docs/en/changelog.md', 'changes of the API')}
${link('Status', '/status', 'current health and the last 90 days')}

## Error codes

${errorCodes.map((code) => link(String(code), `/docs/en/errors/${code}.md`, errorExplanations[code].meaning.en)).join('\n')}
`
}
