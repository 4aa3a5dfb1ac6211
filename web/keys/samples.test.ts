// The samples run as they stand: each is executed against a server that tells what it was sent.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { exampleBody, operations } from './operations.ts'
import { sample, type SampleLanguage, sampleLanguages } from './samples.ts'

// What would break a careless writer: quotes of every kind, a backslash, Chinese, a dollar sign.
const hostile = { username: `o'neil "x" \\ $HOME \`id\` 张三`, key: 'tg_key' }

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
let url = ''

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/x.php`
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
  java: ['java', [], 'Sample.java'],
  go: ['go', ['run'], 'sample.go'],
}

async function run(
  command: string,
  words: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, [...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (output += data.toString()))
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  return { code, output }
}

describe('samples', () => {
  for (const [language] of sampleLanguages) {
    test(language, async (t) => {
      const [command, words, file] = commands[language]
      const needed = language === 'curl' ? 'curl' : command
      if ((await run(needed, [needed === 'go' ? 'version' : '--version'])).code !== 0) {
        t.skip(`${needed} is not installed`)
        return
      }
      for (const operation of operations.filter(({ id }) =>
        ['sms.send', 'domain-check.check'].includes(id),
      )) {
        const body = exampleBody(operation, hostile)
        writeFileSync(join(folder, file), sample(language, url, body))
        const { code, output } = await run(command, [...words, join(folder, file)])
        assert.equal(code, 0, output)
        assert.deepEqual(received.pop(), { type: 'application/json', body })
      }
    })
  }

  test('every operation has an example with all it requires', () => {
    for (const operation of operations) {
      const body = exampleBody(operation, { username: 'demo', key: '<API_KEY>' })
      const { common } = operation.endpoint
      for (const [name, { required }] of Object.entries({ ...common, ...operation.operation.parameters })) {
        if (required) assert.ok(body[name] !== undefined, `${operation.id} ${name}`)
      }
    }
  })
})
