// QR codes are drawn as they should be, and hostile logos are refused.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { contrastOf, qrLimits } from '../../../contract/link-qr.ts'
import { type Pixels, readPng, writePng } from './png.ts'
import { formatQrPng, formatQrSvg } from './qr.ts'

const options = { size: 290, color: '#112233', background: '#ffffff', level: 'M' } as const

/** The dark modules of a picture of a code with 29 modules and its quiet zone of 4. */
function modulesOf({ width, data }: Pixels, modules: number): boolean[] {
  const scale = width / modules
  return Array.from({ length: modules * modules }, (_one, index) => {
    const [y, x] = [Math.floor(index / modules), index % modules].map((at) => Math.floor((at + 0.5) * scale))
    return data[(y! * width + x!) * 4]! < 128
  })
}

describe('QR codes', () => {
  const text = 'https://s.example.com/abcdefg?qr=1'

  it('SVG and PNG show the same modules, with a quiet zone and finder patterns', async () => {
    const svg = formatQrSvg(text, options)
    const modules = Number(/viewBox="0 0 (\d+)/.exec(svg)![1])
    const picture = readPng(await formatQrPng(text, { ...options, size: modules * 10 }), 2_048)!
    const dark = new Set(
      [...svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => Number(y) * modules + Number(x)),
    )
    assert.deepEqual(
      modulesOf(picture, modules),
      Array.from({ length: modules ** 2 }, (_one, index) => dark.has(index)),
    )
    for (let index = 0; index < modules; index += 1) assert.equal(dark.has(3 * modules + index), false)
    for (const index of [0, 1, 2, 3, 4, 5, 6]) assert.ok(dark.has(4 * modules + 4 + index))
    assert.deepEqual(
      [...picture.data.subarray((45 * picture.width + 45) * 4, (45 * picture.width + 45) * 4 + 3)],
      [0x11, 0x22, 0x33],
    )
  })

  it('a logo is in the middle, and raises the error level', async () => {
    const data = new Uint8Array(8 * 8 * 4).fill(255)
    for (let at = 0; at < data.length; at += 4) data.set([200, 0, 0, 255], at)
    const pixels = { width: 8, height: 8, data }
    const logo = { file: await writePng(pixels), pixels }
    const picture = readPng(await formatQrPng(text, { ...options, logo }), 2_048)!
    const middle = (145 * 290 + 145) * 4
    assert.deepEqual([...picture.data.subarray(middle, middle + 3)], [200, 0, 0])
    const svg = formatQrSvg(text, { ...options, logo })
    assert.match(svg, /<image [^>]*href="data:image\/png;base64,[A-Za-z0-9+/=]+"\/>/)
    assert.ok(
      Number(/viewBox="0 0 (\d+)/.exec(svg)![1]) >
        Number(/viewBox="0 0 (\d+)/.exec(formatQrSvg(text, options))![1]),
    )
  })

  it('the largest picture takes the event loop less than 150 ms', async () => {
    const side = 512
    const data = new Uint8Array(side * side * 4).map((_one, index) => (index * 37) % 256)
    const pixels = { width: side, height: side, data }
    const logo = { file: await writePng(pixels), pixels }
    const long = `https://s.example.com/${'x'.repeat(298)}?qr=1`
    let ms = Number.POSITIVE_INFINITY
    for (let round = 0; round < 6 && ms > 150; round += 1) {
      const before = process.threadCpuUsage()
      await formatQrPng(long, { ...options, size: qrLimits.size.max, level: 'H', logo })
      const { user, system } = process.threadCpuUsage(before)
      ms = Math.min(ms, (user + system) / 1_000)
    }
    assert.ok(ms < 150, `${ms} ms`)
  })

  it('reads its own PNG back, and every filter of others', async () => {
    const data = Uint8Array.from({ length: 5 * 3 * 4 }, (_one, index) =>
      index % 4 === 3 ? 255 : (index * 37) % 256,
    )
    assert.deepEqual(readPng(await writePng({ width: 5, height: 3, data }), 10), {
      width: 5,
      height: 3,
      data,
    })
  })

  it('files that are no picture, too large, or unpack to more than they say are refused', async () => {
    const good = await writePng({ width: 4, height: 4, data: new Uint8Array(64).fill(9) })
    const changed = (at: number, value: number) => {
      const copy = Buffer.from(good)
      copy.writeUInt32BE(value, at)
      return copy
    }
    const bomb = deflateSync(Buffer.alloc(50_000_000))
    const size = Buffer.alloc(4)
    size.writeUInt32BE(bomb.length)
    const packed = Buffer.concat([good.subarray(0, 33), size, Buffer.from('IDAT'), bomb, Buffer.alloc(16)])
    for (const file of [
      Buffer.alloc(0),
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      Buffer.from('\u0089PNG'),
      good.subarray(0, 40),
      changed(16, 100_000),
      changed(20, 0),
      changed(33, 0xffffffff),
      packed,
    ])
      assert.equal(readPng(file, 512), undefined)
    assert.ok(readPng(good, 512))
  })

  it('contrast as in WCAG', () => {
    assert.equal(Math.round(contrastOf('#000000', '#ffffff')), 21)
    assert.equal(contrastOf('#777777', '#777777'), 1)
    assert.ok(contrastOf('#ffff00', '#ffffff') < 3)
  })
})
