// /docs/clients/: the clients of sdk/ as archives, so that a customer installs them from the platform itself.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { clientArchive, clientSamples } from '../../contract/client-samples.ts'
import project from '../../package.json' with { type: 'json' }

const sdk = new URL('../../sdk/', import.meta.url)

/** What a package consists of, by folder in sdk/: no tests, nothing that a compiler left behind. */
const packageFiles: Readonly<Record<string, RegExp>> = {
  php: /^(?:README\.md|LICENSE|composer\.json|src\/\w+\.php)$/,
  python: /^(?:README\.md|LICENSE|pyproject\.toml|src\/tollgate\/\w+\.(?:py|typed))$/,
  java: /^(?:README\.md|LICENSE|pom\.xml|src\/main\/java\/io\/tollgate\/\w+\.java)$/,
  go: /^(?:README\.md|LICENSE|go\.mod|\w+\.go)$/,
  node: /^(?:README\.md|LICENSE|package\.json|dist\/(?:cjs\/)?[\w.]+\.(?:js|ts|json))$/,
}

const blockBytes = 512

export function registerClientArchives(app: FastifyInstance): void {
  for (const folder of Object.keys(clientSamples)) {
    // At the start, because a running service must not depend on its files: an update may replace them.
    const archive = existsSync(new URL(`${folder}/`, sdk)) ? createArchive(folder) : undefined
    if (archive === undefined) continue
    app.route({
      method: ['GET', 'HEAD'],
      url: `/docs/clients/${clientArchive(folder, project.version)}`,
      handler: (_request, reply) =>
        reply
          .header('cache-control', 'public, max-age=300')
          .header('x-content-type-options', 'nosniff')
          .type('application/gzip')
          .send(archive),
    })
  }
}

function createArchive(folder: string): Buffer {
  const source = new URL(`${folder}/`, sdk)
  const paths = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => packageFiles[folder]!.test(path))
    .sort()
  const blocks = paths.flatMap((path) => {
    const content = readFileSync(new URL(path, source))
    return [tarHeader(`tollgate-${folder}/${path}`, content.length), content, padding(content.length)]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]))
}

function padding(length: number): Buffer {
  return Buffer.alloc((blockBytes - (length % blockBytes)) % blockBytes)
}

/** A header of POSIX ustar for a file that anybody may read. Without times and owners, the same files give the same archive. */
function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(blockBytes)
  if (Buffer.byteLength(name) > 100) throw new Error(`the name is too long for the archive: ${name}`)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  header.write(name, 0)
  header.write(octal(0o644, 7), 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(size, 11), 124)
  header.write(octal(0, 11), 136)
  // The checksum counts its own field as spaces.
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\0' + '00', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
