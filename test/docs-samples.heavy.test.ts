// Runs the code samples of the documents for every operation, in every installed language.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { documentedEndpoints } from '../contract/reference/interface.ts'
import { sample, type SampleLanguage, sampleLanguages } from '../contract/samples.ts'
import { exampleCallers, valuesOf, withoutVariable } from './support/documented-call.ts'
import { startService } from './support/service.ts'

const run = promisify(execFile)

interface Runner {
  /** The command that succeeds when the language is installed. */
  readonly probe: readonly [string, ...string[]]
  readonly file: string
  readonly command: (file: string) => readonly [string, ...string[]]
}

const runners: Readonly<Record<SampleLanguage, Runner>> = {
  curl: { probe: ['curl', '--version'], file: 'sample.sh', command: (file) => ['sh', file] },
  php: {
    probe: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
    file: 'sample.php',
    command: (file) => ['php', file],
  },
  python: { probe: ['python3', '--version'], file: 'sample.py', command: (file) => ['python3', file] },
  node: {
    probe: [process.execPath, '--version'],
    file: 'sample.mjs',
    command: (file) => [process.execPath, file],
  },
  java: {
    probe: ['java', '-version'],
    file: 'Sample.java',
    // One compilation tier halves the time of a program that runs once.
    command: (file) => ['java', '-XX:TieredStopAtLevel=1', '-Dfile.encoding=UTF-8', file],
  },
  go: { probe: ['go', 'version'], file: 'main.go', command: (file) => ['go', 'run', file] },
}

const phpSeparator = '\n-- as JSON --\n'

/** The environment without the variables of the test runner. */
const environment = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined }

async function isInstalled([command, ...args]: readonly [string, ...string[]]): Promise<boolean> {
  try {
    await run(command, args, { env: environment })
    return true
  } catch {
    return false
  }
}

describe('code samples', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollgate-samples-'))
  })
  after(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  async function runSample(language: SampleLanguage, code: string): Promise<string> {
    const file = join(directory, runners[language].file)
    await writeFile(file, `${code}\n`)
    // The output of print_r cannot be parsed: print the response again as JSON.
    if (language === 'php')
      await appendFile(file, `echo ${JSON.stringify(phpSeparator)}, json_encode($answer);\n`)
    const [command, ...args] = runners[language].command(file)
    return (await run(command, args, { env: environment })).stdout
  }

  for (const language of sampleLanguages) {
    test(`${language}: each operation returns the documented response`, async (context) => {
      if (!(await isInstalled(runners[language].probe))) {
        context.skip(`${runners[language].probe[0]} is not installed`)
        return
      }
      // Each language has its own service: a link can be deleted once, and a number gets one code in 60 seconds.
      await using service = await startService('sqlite')
      const caller = (await exampleCallers(service)).sample
      for (const { endpoint, reference } of documentedEndpoints) {
        for (const [name, operation] of Object.entries(endpoint.operations)) {
          const [example] = reference[name]!.examples
          const values = valuesOf({ endpoint, name, operation, example: example! }, caller)
          const code = sample(language, { baseUrl: service.url, endpoint, values })
          const output = await runSample(language, code)
          const response = language === 'php' ? phpResponse(output) : output
          const shape = shapeOf(withoutVariable(JSON.parse(response), example!.varies))
          assert.deepEqual(
            shape,
            shapeOf(withoutVariable(example!.response, example!.varies)),
            `${endpoint.name} ${name}`,
          )
        }
      }
    })
  }

  test('sends special characters unchanged', async () => {
    const hostile = {
      name: `O'Brien "q" \\ $HOME \`id\` \${x} %s\n\t<b>&amp;😀 中文 \u2028 \u0007`,
      "a'b": [1, true, false, null, { 'x y': 'é' }],
    }
    const echo = { path: '/echo' }
    for (const language of sampleLanguages) {
      if (!(await isInstalled(runners[language].probe))) continue
      const { createServer } = await import('node:http')
      const received: unknown[] = []
      const server = createServer((request, response) => {
        const parts: Buffer[] = []
        request.on('data', (part: Buffer) => parts.push(part))
        request.on('end', () => {
          received.push(JSON.parse(Buffer.concat(parts).toString()))
          response.end('{}')
        })
      })
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
      const { port } = server.address() as { port: number }
      await runSample(
        language,
        sample(language, { baseUrl: `http://127.0.0.1:${port}`, endpoint: echo, values: hostile }),
      )
      server.close()
      assert.deepEqual(received, [hostile], language)
    }
  })

  test('escapes values in every language', () => {
    const call = (text: string) => ({ baseUrl: 'http://x', endpoint: { path: '/y' }, values: { v: text } })
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const node = sample('node', call(text))
        const literal = /JSON\.stringify\((\{[\s\S]*\})\),\n/.exec(node)![1]!
        assert.deepEqual({ ...runInNewContext(`(${literal})`) }, { v: text.toWellFormed() })
        const php = /'v' => '((?:[^'\\]|\\[\s\S])*)',/.exec(sample('php', call(text)))
        assert.equal(php![1]!.replaceAll(/\\(['\\])/g, '$1'), text)
        const go = /body := ("(?:[^"\\]|\\.)*")\n/.exec(sample('go', call(text)))
        assert.deepEqual(JSON.parse(JSON.parse(go![1]!) as string), { v: text })
      }),
    )
  })
})

function phpResponse(output: string): string {
  const [readable, encoded] = output.split(phpSeparator)
  assert.match(readable!, /^Array\n\(/)
  return encoded!
}

/** Compares only names and types, because the balance decreases with each sample. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item)]))
  }
  return typeof value
}
