// Starts nginx with deploy/nginx.conf, changed only in ports and paths.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { root } from './root.ts'
import { freePort } from './service.ts'

const run = promisify(execFile)

export const nginxSample = readFileSync(join(root, 'deploy', 'nginx.conf'), 'utf8')

export interface Nginx extends AsyncDisposable {
  readonly url: string
  readonly plainPort: number
  readonly port: number
  /** Holds the logs and the temporary files. */
  readonly folder: string
  /** The access log of the sample. */
  readonly log: string
  /** Everything that nginx has written to any file or to stderr, by file name. */
  allLogs(): Promise<Map<string, string>>
}

export interface NginxResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface SendOptions {
  readonly headers?: Record<string, string>
  readonly from?: string
  readonly method?: string
  readonly body?: string | Buffer
}

export interface NginxKit {
  readonly certificate: string
  /** Skips the test and returns true if nginx or openssl is not installed. */
  skip(context: TestContext): boolean
  /** Starts nginx after `nginx -t`. The main log is as verbose as an operator may set it. */
  start(backend: string, change?: (text: string) => string): Promise<Nginx>
  /** Sends a request over TLS from a loopback address and verifies the certificate. */
  send(url: string, options?: SendOptions): Promise<NginxResponse>
}

async function isInstalled(command: string, ...args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

/** Call it in a `describe` block: it creates a certificate before the tests and removes everything after them. */
export function useNginx(): NginxKit {
  let directory = ''
  let installed = false
  const certificateFile = () => join(directory, 'fullchain.pem')

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollgate-nginx-'))
    installed = (await isInstalled('nginx', '-v')) && (await isInstalled('openssl', 'version'))
    if (!installed) return
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost'],
      ...['-keyout', join(directory, 'privkey.pem'), '-out', certificateFile()],
    ])
  })
  after(() => rm(directory, { recursive: true, force: true }))

  function send(url: string, options: SendOptions = {}): Promise<NginxResponse> {
    const { headers = {}, from = '127.0.0.1', method = 'GET', body } = options
    const ca = readFileSync(certificateFile())
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        { method, headers, ca, family: 4, localAddress: from, agent: false, maxHeaderSize: 65_536 },
        (response) => {
          let text = ''
          response.on('data', (part: Buffer) => (text += part.toString()))
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          )
          response.on('error', reject)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  async function start(backend: string, change = (text: string) => text): Promise<Nginx> {
    const [plainPort, port] = [await freePort(), await freePort()]
    const folder = join(directory, String(port))
    await mkdir(folder)
    const log = join(folder, 'tollgate.log')
    const config = change(nginxSample)
      .replaceAll(/^ *listen \[::\].*\n/gm, '')
      .replaceAll('listen 80;', `listen 127.0.0.1:${plainPort};`)
      .replaceAll('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
      .replace('server 127.0.0.1:3000;', `server ${backend};`)
      .replaceAll('/etc/ssl/tollgate/', `${directory}/`)
      .replaceAll('/var/log/nginx/', `${folder}/`)
    const file = join(directory, `nginx-${port}.conf`)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    await writeFile(
      file,
      `pid ${directory}/nginx-${port}.pid;\nerror_log ${folder}/error.log info;\ndaemon off;\n` +
        `master_process off;\nevents {}\nhttp {\naccess_log ${folder}/access.log;\n` +
        `error_log ${folder}/http-error.log info;\n${paths.join('\n')}\n${config}\n}\n`,
    )
    await run('nginx', ['-t', '-p', directory, '-c', file])
    const child = spawn('nginx', ['-p', directory, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (part: Buffer) => (stderr += part.toString()))
    const url = `https://localhost:${port}`
    for (let attempts = 0; ; attempts += 1) {
      const isUp = await send(`${url}/no-such-page`).then(
        () => true,
        () => false,
      )
      if (isUp) break
      assert.ok(attempts < 100 && child.exitCode === null, `nginx did not start: ${stderr}`)
      await sleep(50)
    }
    return {
      url,
      plainPort,
      port,
      folder,
      log,
      async allLogs() {
        const logs = new Map([['stderr', stderr]])
        for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
          const path = join(entry.parentPath, entry.name)
          if (entry.isFile()) logs.set(path.slice(folder.length + 1), await readFile(path, 'latin1'))
        }
        return logs
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      },
    }
  }

  return {
    get certificate() {
      return certificateFile()
    },
    skip(context) {
      if (!installed) context.skip('nginx or openssl is not installed')
      return !installed
    },
    start,
    send,
  }
}
