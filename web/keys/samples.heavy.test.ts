// Runs each code sample against a server that records the requests.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sample, type SampleLanguage, sampleLanguages } from '../../contract/samples.ts'
import { exampleBody, operations } from './operations.ts'

// Characters that need escaping: quotes of every kind, a backslash, Chinese, a dollar sign.
const specialCaller = { username: `o'neil "x" \\ $HOME \`id\` 张三`, key: 'tg_key' }

const received: { readonly type: string | undefined; readonly body: unknown }[] = []
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    received.push({
      type: request.headers['content-type'],
      body: JSON.parse(Buffer.concat(chunks).toString()),
    })
    response.setHeader('content-type', 'application/json').end('{"code":0}')
  })
})
const folder = mkdtempSync(join(tmpdir(), 'tollgate-samples-'))
let baseUrl = ''

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const commands: Readonly<Record<SampleLanguage, readonly [string, readonly string[], string]>> = {
  curl: ['sh', [], 'sample.sh'],
  php: ['php', [], 'sample.php'],
  python: ['python3', [], 'sample.py'],
  node: [process.execPath, [], 'sample.mjs'],
  java: ['java', ['-Dfile.encoding=UTF-8'], 'Sample.java'],
  go: ['go', ['run'], 'sample.go'],
}

async function run(
  command: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (output += data.toString()))
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  return { code, output }
}

describe('code samples', () => {
  for (const language of sampleLanguages) {
    test(`the ${language} sample runs and sends the example body`, async (t) => {
      const [command, args, file] = commands[language]
      const needed = language === 'curl' ? 'curl' : command
      if ((await run(needed, [needed === 'go' ? 'version' : '--version'])).code !== 0) {
        t.skip(`${needed} is not installed`)
        return
      }
      for (const operation of operations.filter(({ id }) =>
        ['sms.send', 'domain-check.check'].includes(id),
      )) {
        const body = exampleBody(operation, specialCaller)
        writeFileSync(
          join(folder, file),
          sample(language, { baseUrl, endpoint: operation.endpoint, values: body }),
        )
        const { code, output } = await run(command, [...args, join(folder, file)])
        assert.equal(code, 0, output)
        assert.deepEqual(received.pop(), { type: 'application/json', body })
      }
    })
  }

  test('every operation has an example with all required parameters', () => {
    for (const operation of operations) {
      const body = exampleBody(operation, { username: 'demo', key: '<API_KEY>' })
      const { common } = operation.endpoint
      for (const [name, { required }] of Object.entries({ ...common, ...operation.operation.parameters })) {
        if (required) assert.ok(body[name] !== undefined, `${operation.id} ${name}`)
      }
    }
  })
})
