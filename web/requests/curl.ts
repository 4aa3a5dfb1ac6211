// Formats a logged request as a curl command, with a placeholder for the key.
import type { RequestDetail } from '../../contract/console/responses/requests.ts'
import { shellText } from '../../contract/samples.ts'

/** `credentials` are what a call from the console did not need: user name, key and action, by the endpoint. */
export function formatCurl(
  call: Pick<RequestDetail, 'method' | 'parameters'>,
  url: string,
  credentials: Readonly<Record<string, string>> = {},
): string {
  const added = Object.entries(credentials).map(([name, value]) => ({ name, value, source: 'json' as const }))
  const from = (source: string) =>
    [...added, ...call.parameters]
      .filter((parameter) => parameter.source === source)
      .map(({ name, value }) => [name, name === 'api_key' ? '<API_KEY>' : value] as const)
  const query = new URLSearchParams(from('query').map(([name, value]) => [name, asText(value)])).toString()
  const lines = [`curl -sS -X ${call.method} ${shellText(query === '' ? url : `${url}?${query}`)}`]
  for (const [name, value] of from('header')) lines.push(`-H ${shellText(`${name}: ${asText(value)}`)}`)
  if (from('bearer').length > 0) lines.push(`-H 'Authorization: Bearer <API_KEY>'`)
  const json = from('json')
  if (json.length > 0) {
    lines.push(`-H 'Content-Type: application/json'`)
    lines.push(`-d ${shellText(JSON.stringify(Object.fromEntries(json)))}`)
  }
  for (const [name, value] of from('form'))
    lines.push(`--data-urlencode ${shellText(`${name}=${asText(value)}`)}`)
  return lines.join(' \\\n  ')
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
