// nginx with one worker and the same redirects in a `map`, as a second reference.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../test/support/service.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Running } from './processes.ts'

/** Each line is a path and its target. */
export async function startNginx(directory: string, lines: readonly string[]): Promise<Running> {
  const port = await freePort()
  writeFileSync(join(directory, 'nginx-map'), lines.map((line) => `${line};`).join('\n'))
  writeFileSync(join(directory, 'nginx.conf'), configOf(directory, port, lines.length))
  const child = spawn('nginx', ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; !(await isReachable(url)); tries += 1) {
    if (child.exitCode !== null || tries > 600) throw new Error('nginx did not start')
    await sleep(50)
  }
  return {
    url,
    pid: child.pid!,
    async end() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

function isReachable(url: string): Promise<boolean> {
  return fetch(url, { redirect: 'manual' }).then(
    () => true,
    () => false,
  )
}

function configOf(directory: string, port: number, count: number): string {
  // The hash table is large enough for all links, so that buckets stay short.
  const hash = 2 ** Math.ceil(Math.log2(Math.max(2_048, count * 2)))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${temporary.map((name) => `${name}_temp_path ${directory}/nginx-${name};`).join(' ')}
  map_hash_max_size ${hash};
  map_hash_bucket_size 256;
  map $uri $target { default ""; include ${directory}/nginx-map; }
  server {
    listen 127.0.0.1:${port};
    location / { if ($target = "") { return 404; } return 302 $target; }
  }
}
`
}
