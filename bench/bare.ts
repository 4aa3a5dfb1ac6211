// The reference server: plain node:http in a separate process (`bare.ts redirect FILE` or `bare.ts json BYTES`).
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'

const [kind, argument] = process.argv.slice(2)

/** Redirects from a Map. Each line of the file is a path and its target. */
function redirects(file: string): RequestListener {
  const targets = new Map<string, string>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [path, target] = line.split(' ')
    if (path && target) targets.set(path, target)
  }
  return (request, response) => {
    const location = targets.get(request.url ?? '')
    if (location === undefined) response.writeHead(404).end()
    else response.writeHead(302, { Location: location, 'Content-Length': 0 }).end()
  }
}

/** Parses the JSON body and responds with JSON of the given size. */
function json(bytes: number): RequestListener {
  const responseText = JSON.stringify({ success: true, data: 'x'.repeat(Math.max(0, bytes - 26)) })
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(typeof body === 'object' ? 200 : 400, {
        'Content-Type': 'application/json',
        'Content-Length': responseText.length,
      })
      response.end(responseText)
    })
  }
}

const server = createServer(kind === 'redirect' ? redirects(argument!) : json(Number(argument)))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`ready ${typeof address === 'object' && address ? address.port : 0}\n`)
})
