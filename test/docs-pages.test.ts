// /docs/: complete in both languages, no other origin, no script. On a phone: browser/reference.heavy.test.ts.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { clientArchive, clientSamples, sampleBaseUrl, sampleVersion } from '../contract/client-samples.ts'
import { errorCodes } from '../contract/codes.ts'
import { documentedEndpoints, sandboxInputs } from '../contract/reference/interface.ts'
import { sampleLanguages } from '../contract/samples.ts'
import { verifySampleLanguages } from '../contract/webhook-samples.ts'
import project from '../package.json' with { type: 'json' }
import { addHealthSample, findHealthDays } from '../server/operations/health-store.ts'
import { until } from './support/until.ts'
import { root } from './support/root.ts'
import { startService, type TestService } from './support/service.ts'

const execute = promisify(execFile)

const languages = [
  ['zh', '/docs/', 'zh-CN'],
  ['en', '/docs/en/', 'en'],
] as const

const voidTags = new Set(['meta', 'link', 'input', 'br', 'hr', 'img', 'wbr'])

describe('reference pages', () => {
  let service: TestService
  before(async () => void (service = await startService('sqlite')))
  after(() => service[Symbol.asyncDispose]())

  for (const [language, path, tag] of languages) {
    test(`${path} names every operation, parameter, example and error`, async () => {
      const response = await fetch(`${service.url}${path}`)
      assert.equal(response.status, 200)
      const page = await response.text()
      const text = plainText(page)
      assert.match(page, new RegExp(`<html lang="${tag}">`))
      for (const { endpoint, title, reference } of documentedEndpoints) {
        assert.ok(text.includes(title[language]))
        assert.ok(text.includes(`${service.url}${endpoint.path}`))
        for (const [name, operation] of Object.entries(endpoint.operations)) {
          for (const wanted of [
            operation.text[language],
            ...operation.actions,
            ...Object.keys(operation.parameters),
          ]) {
            assert.ok(text.includes(wanted), `${name}: ${wanted}`)
          }
          for (const { when } of reference[name]!.errors)
            assert.ok(text.includes(when[language]), when[language])
          for (const example of reference[name]!.examples) {
            assert.ok(
              text.includes(JSON.stringify(example.response, null, 2)),
              `${name}: ${example.title.en}`,
            )
          }
        }
      }
      for (const { input } of sandboxInputs) assert.ok(text.includes(input), input)
    })

    test(`${path} is well formed, and all its internal links resolve`, async () => {
      const page = await (await fetch(`${service.url}${path}`)).text()
      const open: string[] = []
      for (const [, close, name] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
        if (voidTags.has(name!)) continue
        if (close) assert.equal(open.pop(), name)
        else open.push(name!)
      }
      assert.deepEqual(open, [])
      const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)
      assert.equal(new Set(ids).size, ids.length)
      for (const [, target] of page.matchAll(/ (?:href="#|for=")([^"]+)"/g))
        assert.ok(ids.includes(target!), target)
    })
  }

  test('the documents request no other origin and run only their own script', async () => {
    for (const [, path] of languages) {
      const response = await fetch(`${service.url}${path}`)
      const page = await response.text()
      assert.match(
        response.headers.get('content-security-policy') ?? '',
        /default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';/,
      )
      assert.deepEqual(page.match(/<script[^>]*>/g)?.length, 1)
      assert.match(page, /<script src="[./]*\/docs\/docs\.js" defer><\/script>/)
      assert.doesNotMatch(page, /<style| style="| on[a-z]+="/)
      for (const [, address] of page.matchAll(/(?:src|href)="([^"#][^"]*)"/g)) {
        assert.ok(!address!.includes(':'), address)
        const found = await fetch(new URL(address!, `${service.url}${path}`))
        // On a busy machine the first check of /status may reach its time limit.
        const accepted = address!.endsWith('/status') ? [200, 503] : [200]
        if (!address!.includes('/console/')) assert.ok(accepted.includes(found.status), address)
      }
    }
  })

  test('the English page has no Chinese punctuation', async () => {
    const page = plainText(await (await fetch(`${service.url}/docs/en/`)).text())
    const ours = page.replaceAll(/上游核验失败：/g, '').replaceAll(/"\w+": ".*"/g, '')
    assert.deepEqual([...ours.matchAll(/.{0,20}[，。：；（）].{0,20}/g)].map(String), [])
  })

  test('every page has a Markdown form, and every error code a page', async () => {
    const text = async (path: string) => {
      const response = await fetch(`${service.url}${path}`)
      assert.equal(response.status, 200, path)
      return { type: response.headers.get('content-type'), body: await response.text() }
    }
    for (const prefix of ['/docs', '/docs/en']) {
      const reference = await text(`${prefix}/index.md`)
      assert.equal(reference.type, 'text/markdown; charset=utf-8')
      assert.match(reference.body, /^# Tollgate/)
      assert.match(reference.body, /\n### .*`send_sms`/)
      assert.match(reference.body, /\| `phone_number` \|/)
      for (const start of ['```sh\ncurl', '```php\n<?php', '```python\nimport', '```json\n{'])
        assert.ok(reference.body.includes(start), start)
      assert.doesNotMatch(reference.body, /<\/?(?:p|h2|pre|span|td)\b|&quot;/)
      for (const code of errorCodes) {
        assert.match((await text(`${prefix}/errors/${code}`)).body, new RegExp(`<h1>.*${code}`))
        assert.match((await text(`${prefix}/errors/${code}.md`)).body, new RegExp(`^# .*${code}`))
      }
      assert.match((await text(`${prefix}/changelog`)).body, /0\.1\.0/)
      assert.match((await text(`${prefix}/changelog.md`)).body, /## 0\.1\.0/)
    }
    const llms = await text('/llms.txt')
    assert.match(llms.body, /^# Tollgate\n\n> /)
    for (const [, path] of llms.body.matchAll(/\]\(https?:\/\/[^/]+(\/[^)]*)\)/g)) await text(path!)
  })

  test('the status page shows the parts of the service, as HTML in one language and as JSON', async () => {
    const page = async (language: string, accept = 'text/html') =>
      fetch(`${service.url}/status`, { headers: { 'accept-language': language, accept } })
    // On a busy machine the first check may reach its time limit; the page is read again every 10 seconds.
    await until(async () => (await (await page('zh-CN')).text()).includes('全部正常'), 60_000)
    assert.match(await (await page('zh-CN')).text(), /<html lang="zh-CN">[^]*全部正常/)
    assert.match(await (await page('en')).text(), /<html lang="en">[^]*All systems operational/)
    await service.installation.db.write(async (tx) => {
      for (const minute of [1, 2, 2, 3]) {
        await addHealthSample(tx, { day: '2026-01-01', part: 'sms', failed: minute === 3, minute })
      }
    })
    const days = await findHealthDays(service.installation.db, '2026-01-01')
    assert.deepEqual(
      days.find(({ day }) => day === '2026-01-01'),
      { day: '2026-01-01', part: 'sms', samples: 3, failed: 1 },
      'a minute counts once',
    )
    const report = (await (await page('en', 'application/json')).json()) as { ok: boolean; parts: unknown[] }
    assert.deepEqual([report.ok, report.parts.length], [true, 4])
  })

  test('the home page links to the reference', async () => {
    const page = await (await fetch(`${service.url}/`)).text()
    for (const path of ['/docs/', '/docs/en/', '/console/']) assert.ok(page.includes(`href="${path}"`), path)
  })

  test('shows how to install every client, and its first call, as its README', async () => {
    const page = plainText(await (await fetch(`${service.url}/docs/en/`)).text())
    for (const [folder, { install, file, code, run }] of Object.entries(clientSamples)) {
      const readme = readFileSync(join(root, 'sdk', folder, 'README.md'), 'utf8')
      const lines = install.replaceAll(sampleVersion, project.version)
      assert.ok(readme.includes(`\n\`\`\`sh\n${lines}\n\`\`\`\n`), `${folder}: install`)
      assert.ok(readme.includes(`Save as \`${file}\``), `${folder}: file`)
      assert.ok(readme.includes(`\n${code}\n\`\`\`\n`), `${folder}: code`)
      for (const line of run.split('\n')) assert.ok(readme.includes(`\n    ${line}\n`), `${folder}: ${line}`)
      for (const text of [lines, code, run])
        assert.ok(page.includes(text.replaceAll(sampleBaseUrl, service.url)), `${folder}: ${text}`)
    }
  })

  test('offers every client as an archive with the files of its package', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-archives-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    for (const client of Object.keys(clientSamples)) {
      const response = await fetch(`${service.url}/docs/clients/${clientArchive(client, project.version)}`)
      assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/gzip'])
      const file = join(folder, 'client.tar.gz')
      await writeFile(file, Buffer.from(await response.arrayBuffer()))
      await execute('tar', ['xzf', file, '-C', folder])
      const unpacked = join(folder, `tollgate-${client}`)
      const files = (await readdir(unpacked, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => relative(unpacked, join(entry.parentPath, entry.name)))
      for (const path of files) {
        const original = readFileSync(join(root, 'sdk', client, path))
        assert.ok(original.equals(readFileSync(join(unpacked, path))), path)
      }
      // Everything of the folder but its tests and, of the Node client, what `dist` is built from.
      const { stdout: tracked } = await execute('git', ['ls-files', '.'], {
        cwd: join(root, 'sdk', client),
      }).catch(() => ({ stdout: '' }))
      if (tracked === '') continue
      const expected = tracked
        .trim()
        .split('\n')
        .filter((path) => !/^(?:tests|internal|src\/test)\//.test(path))
        .filter((path) => client !== 'node' || !/^(?:src\/|tsconfig)/.test(path))
      assert.deepEqual(files.toSorted(), expected.toSorted(), client)
    }
  })

  test('shows samples in every language for every operation', async () => {
    const page = await (await fetch(`${service.url}/docs/`)).text()
    const operations = documentedEndpoints.flatMap(({ endpoint }) => Object.keys(endpoint.operations))
    const others = Object.keys(clientSamples).length + verifySampleLanguages.length
    assert.equal(page.match(/class="tabs"/g)?.length, operations.length + 2)
    const choices = operations.length * sampleLanguages.length + others
    assert.equal(page.match(/<input\s+type="radio"/g)?.length, choices)
  })

  test('responds with 304 to a matching ETag and without a body to HEAD', async () => {
    const first = await fetch(`${service.url}/docs/`)
    const tag = first.headers.get('etag') ?? ''
    const again = await fetch(`${service.url}/docs/`, { headers: { 'if-none-match': tag } })
    assert.equal(again.status, 304)
    const head = await fetch(`${service.url}/docs/`, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    const plain = await fetch(`${service.url}/docs/`, { headers: { 'accept-encoding': 'identity' } })
    const zipped = await fetch(`${service.url}/docs/`, { headers: { 'accept-encoding': 'br, gzip' } })
    assert.deepEqual(
      [plain, zipped].map((one) => one.headers.get('content-encoding')),
      [null, 'gzip'],
    )
    assert.equal(await plain.text(), await zipped.text())
    const bare = await fetch(`${service.url}/docs`, { redirect: 'manual' })
    assert.equal(new URL(bare.headers.get('location')!, bare.url).href, `${service.url}/docs/`)
    assert.equal((await fetch(`${service.url}/docs/en`)).url, `${service.url}/docs/en/`)
  })

  test('shows the configured limits, prices and gateways', async () => {
    await using other = await startService('sqlite', {
      PRICES: 'identity=5',
      RATE_LIMIT: '33,77',
      SMS_NUMBER_LIMITS: '2/m,9/d',
      DOMAIN_MAX_URLS: '123',
      LINK_REFRESH_GRACE_HOURS: '48',
      ERROR_HTTP_STATUS: 'ok',
      SMS_GATEWAYS: 'http',
      SMS_HTTP_URL: 'http://127.0.0.1:9/',
      SMS_HTTP_SECRET: 'a secret of the gateway',
    })
    const text = plainText(await (await fetch(`${other.url}/docs/`)).text())
    for (const wanted of [
      '每次核验消耗 5 次',
      '每秒 33 次，突发 77 次',
      '每分钟 2 条，每天 9 条（全平台各账户合计）',
      '123',
      '继续有效 48 小时',
      '一律返回 HTTP 200',
    ]) {
      assert.ok(text.includes(wanted), wanted)
    }
    assert.ok(!text.includes('19900000002'), 'SMS is not on the sandbox')
    assert.ok(text.includes('blocked.test'), 'the domain check is')
    assert.ok(!text.includes('a secret of the gateway'))
  })
})

function plainText(page: string): string {
  return page
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
