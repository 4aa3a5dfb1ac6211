// Runs the code that verifies webhook signatures, in every installed language.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import {
  type VerifySampleLanguage,
  verifySampleLanguages,
  verifySamples,
} from '../contract/webhook-samples.ts'
import { generateWebhookSecret, signWebhook } from '../server/events/signature.ts'

const run = promisify(execFile)

interface SampleRun {
  readonly probe: readonly [string, ...string[]]
  /** Writes the files of a program that prints `true` or `false`, and returns its command. */
  readonly prepare: (folder: string, sample: string) => Promise<readonly [string, ...string[]]>
}

const body = '{"type":"ping","timestamp":"2026-01-02T03:04:05+08:00","data":{"text":"短信"}}'

/** The programs read the secret, the headers and the body from the environment. */
const runs: Readonly<Record<VerifySampleLanguage, SampleRun>> = {
  PHP: {
    probe: ['php', '--version'],
    async prepare(folder, sample) {
      const call = `$headers = json_decode(getenv('HEADERS'), true);
echo verify_webhook(getenv('SECRET'), $headers, getenv('BODY')) ? 'true' : 'false';`
      await writeFile(join(folder, 'a.php'), `${sample}\n${call}`)
      return ['php', join(folder, 'a.php')]
    },
  },
  Python: {
    probe: ['python3', '--version'],
    async prepare(folder, sample) {
      const call = `import json, os
headers = json.loads(os.environ["HEADERS"])
print(str(verify_webhook(os.environ["SECRET"], headers, os.environ["BODY"].encode())).lower())`
      await writeFile(join(folder, 'a.py'), `${sample}\n${call}`)
      return ['python3', join(folder, 'a.py')]
    },
  },
  Java: {
    probe: ['java', '-version'],
    async prepare(folder, sample) {
      const main = `class Main {
    public static void main(String[] args) throws Exception {
        java.util.Map<String, String> headers = new java.util.HashMap<>();
        for (String name : new String[] {"webhook-id", "webhook-timestamp", "webhook-signature"}) {
            headers.put(name, System.getenv(name.replace("-", "_")));
        }
        System.out.print(Webhooks.verify(System.getenv("SECRET"), headers,
            java.util.Base64.getDecoder().decode(System.getenv("BODY_BASE64"))));
    }
}`
      const [imports, classes] = [
        sample.slice(0, sample.indexOf('class ')),
        sample.slice(sample.indexOf('class ')),
      ]
      await writeFile(join(folder, 'Main.java'), `${imports}\n${main}\n${classes}`)
      return ['java', '-XX:TieredStopAtLevel=1', join(folder, 'Main.java')]
    },
  },
  'Node.js': {
    probe: [process.execPath, '--version'],
    async prepare(folder, sample) {
      const call = `const { SECRET, HEADERS, BODY } = process.env
console.log(verifyWebhook(SECRET, JSON.parse(HEADERS), BODY))`
      await writeFile(join(folder, 'a.mjs'), `${sample}\n${call}`)
      return [process.execPath, join(folder, 'a.mjs')]
    },
  },
  Go: {
    probe: ['go', 'version'],
    async prepare(folder, sample) {
      await mkdir(join(folder, 'webhooks'))
      await writeFile(join(folder, 'go.mod'), 'module example.com/a\n\ngo 1.19\n')
      await writeFile(join(folder, 'webhooks', 'webhooks.go'), sample)
      await writeFile(
        join(folder, 'main.go'),
        `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"example.com/a/webhooks"
)

func main() {
	values := map[string]string{}
	if err := json.Unmarshal([]byte(os.Getenv("HEADERS")), &values); err != nil {
		panic(err)
	}
	header := http.Header{}
	for name, value := range values {
		header.Set(name, value)
	}
	fmt.Print(webhooks.Verify(os.Getenv("SECRET"), header, []byte(os.Getenv("BODY"))))
}
`,
      )
      return ['go', 'run', '.']
    },
  },
}

const environment = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined }

describe('webhook samples', () => {
  for (const language of verifySampleLanguages) {
    it(`accept real and reject forged requests in ${language}`, async (t) => {
      const { probe, prepare } = runs[language]
      const isInstalled = await run(probe[0], probe.slice(1)).then(
        () => true,
        () => false,
      )
      if (!isInstalled) return t.skip(`${probe[0]} is not installed`)
      const folder = await mkdtemp(join(tmpdir(), 'tollgate-webhook-'))
      try {
        const secret = generateWebhookSecret()
        const now = Math.floor(Date.now() / 1000)
        const command = await prepare(folder, verifySamples[language])
        const verify = async (
          timestamp: number,
          secrets: readonly string[],
          sent: string,
          known = secret,
          change: Readonly<Record<string, string | undefined>> = {},
        ) => {
          const headers = { ...signWebhook({ id: 'evt_1', timestamp, body }, secrets), ...change }
          const byName = Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name.replaceAll('-', '_'), value]),
          )
          const { stdout } = await run(command[0], command.slice(1), {
            cwd: folder,
            env: {
              ...environment,
              ...byName,
              SECRET: known,
              HEADERS: JSON.stringify(headers),
              BODY: sent,
              BODY_BASE64: Buffer.from(sent).toString('base64'),
            },
          })
          return stdout.trim()
        }
        assert.equal(await verify(now, [generateWebhookSecret(), secret], body), 'true')
        // Anybody can sign with an empty key, which is what a variable without a value gives.
        await assert.rejects(verify(now, ['whsec_'], body, 'whsec_'))
        assert.equal(await verify(now, [generateWebhookSecret()], body), 'false')
        assert.equal(await verify(now, [secret], body.replace('ping', 'pong')), 'false')
        assert.equal(await verify(now - 400, [secret], body), 'false')
        for (const change of [
          { 'webhook-id': undefined },
          { 'webhook-timestamp': undefined },
          { 'webhook-signature': undefined },
          { 'webhook-timestamp': '²' },
          { 'webhook-signature': 'v1,é' },
        ])
          assert.equal(await verify(now, [secret], body, secret, change), 'false', JSON.stringify(change))
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  }
})
