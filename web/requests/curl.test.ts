// A logged call as a curl command.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCurl } from './curl.ts'

test('adds what a call from the console did not send', () => {
  const parameters = [{ name: 'phone_number', source: 'json' as const, value: '138****8000' }]
  const credentials = { username: 'demo', api_key: '<API_KEY>', action: 'send_sms' }
  const text = formatCurl({ method: 'POST', parameters }, 'http://h/api/sms_api.php', credentials)
  const body = '{"username":"demo","api_key":"<API_KEY>","action":"send_sms","phone_number":"138****8000"}'
  assert.ok(text.endsWith(`-d '${body}'`), text)
})

test('sends each parameter from its source and hides the key', () => {
  const text = formatCurl(
    {
      method: 'POST',
      parameters: [
        { name: 'api_key', source: 'header', value: 'tg_abcd••••••wxyz' },
        { name: 'action', source: 'query', value: 'send' },
        { name: 'template_params', source: 'json', value: { code: "it's" } },
        { name: 'phone_number', source: 'form', value: '138****8000' },
      ],
    },
    'http://h/api/sms_api.php',
  )
  assert.equal(
    text,
    [
      `curl -sS -X POST 'http://h/api/sms_api.php?action=send'`,
      `-H 'api_key: <API_KEY>'`,
      `-H 'Content-Type: application/json'`,
      `-d '{"template_params":{"code":"it'\\''s"}}'`,
      `--data-urlencode 'phone_number=138****8000'`,
    ].join(' \\\n  '),
  )
})
