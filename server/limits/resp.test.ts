import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { it } from 'node:test'
import fc from 'fast-check'
import { type Answer, answerReader, openResp, RespError } from './resp.ts'

function encode(answer: Answer): string {
  if (answer === null) return '$-1\r\n'
  if (typeof answer === 'number') return `:${answer}\r\n`
  if (typeof answer === 'string') return `$${Buffer.byteLength(answer)}\r\n${answer}\r\n`
  if (answer instanceof RespError) return `-${answer.message}\r\n`
  return `*${answer.length}\r\n${answer.map(encode).join('')}`
}

it('reads answers whole, wherever the bytes are cut', () => {
  const { answer } = fc.letrec<{ answer: Answer }>((tie) => ({
    answer: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('\r\n', '', '$3\r\nabc\r\n'),
      fc.integer(),
      fc.constant(null),
      fc.array(tie('answer') as fc.Arbitrary<Answer>, { maxLength: 4 }),
    ),
  }))
  fc.assert(
    fc.property(
      fc.array(answer, { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 9 })),
      (sent, cuts) => {
        const bytes = Buffer.from(sent.map(encode).join(''))
        const reader = answerReader()
        const read: Answer[] = []
        let at = 0
        for (const cut of [...cuts, bytes.length]) {
          read.push(...reader.read(bytes.subarray(at, at + cut)))
          at += cut
        }
        assert.deepEqual(read, sent)
      },
    ),
  )
  const [refused] = answerReader().read(Buffer.from('-ERR no\r\n'))
  assert.ok(refused instanceof RespError && refused.message === 'ERR no')
})

it('a server that talks nonsense, hangs up or is not there is an error, and the next question a new try', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.resume()
    socket.on('error', () => undefined)
    if (connections === 1) socket.write('HTTP/1.1 400 no\r\n')
    else if (connections === 2) socket.destroy()
    else socket.write('+PONG\r\n')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const client = openResp(`redis://127.0.0.1:${port}`)
  await assert.rejects(client.send(['PING']))
  await assert.rejects(client.send(['PING']))
  assert.equal(await client.send(['PING']), 'PONG')
  client.close()
  await new Promise((resolve) => server.close(resolve))
  await assert.rejects(client.send(['PING']))
})
