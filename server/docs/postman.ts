// A Postman collection (v2.1) of the examples, with variables for base URL, user name and key.
import { type DocumentedEndpoint, documentedEndpoints } from '../../contract/reference/interface.ts'
import type { Example } from '../../contract/reference.ts'
import type { Operation } from '../../contract/endpoint.ts'
import { exampleBody, type DocsContext } from './openapi.ts'
import type { JsonObject } from './schemas.ts'

export function postmanCollection({ publicUrl, version }: DocsContext): JsonObject {
  return {
    info: {
      name: 'Tollgate 开放平台',
      description: `接口文档 / reference: ${publicUrl}/docs/`,
      version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: [
      { key: 'base_url', value: publicUrl },
      { key: 'username', value: 'demo' },
      { key: 'api_key', value: '' },
    ],
    item: documentedEndpoints.map((documented) => ({
      name: `${documented.title.zh} / ${documented.title.en}`,
      item: Object.entries(documented.endpoint.operations).map(([name, operation]) => ({
        name: `${operation.text.zh} / ${operation.text.en}`,
        item: (documented.reference[name]?.examples ?? []).map((example) =>
          item(documented, operation, example),
        ),
      })),
    })),
  }
}

function item({ endpoint }: DocumentedEndpoint, operation: Operation, example: Example): JsonObject {
  const url = {
    raw: `{{base_url}}${endpoint.path}`,
    host: ['{{base_url}}'],
    path: endpoint.path.slice(1).split('/'),
  }
  const body = exampleBody(endpoint, operation, example)
  const variables: JsonObject = 'username' in body ? { username: '{{username}}' } : {}
  const request = {
    method: 'POST',
    header: [{ key: 'Content-Type', value: 'application/json' }],
    url,
    body: {
      mode: 'raw',
      raw: JSON.stringify({ ...body, ...variables, api_key: '{{api_key}}' }, null, 2),
      options: { raw: { language: 'json' } },
    },
  }
  return {
    name: `${example.title.zh} / ${example.title.en}`,
    request,
    response: [
      {
        name: example.title.zh,
        originalRequest: request,
        code: example.status,
        header: [{ key: 'Content-Type', value: 'application/json; charset=utf-8' }],
        body: JSON.stringify(example.response, null, 2),
        _postman_previewlanguage: 'json',
      },
    ],
  }
}
