// Countries and provinces of addresses: xdb files, the three formats of their texts, and the data of the package.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { addressBytes, plainAddress } from './addresses.ts'
import { createLocator, placeFileProblem } from './places.ts'
import { countryCode, provinceCode, readRegion } from './regions.ts'
import { loadXdb } from './xdb.ts'

type Segment = readonly [first: string, last: string, text: string]

const v4: readonly Segment[] = [
  ['0.0.0.0', '0.255.255.255', '0|0|Reserved|Reserved|0'],
  ['113.118.112.0', '113.118.113.255', '中国|广东省|深圳市|电信|CN'],
  ['114.114.114.0', '114.114.115.255', '中国|江苏省|南京市|0|CN'],
  ['223.5.0.0', '223.6.255.255', '中国|浙江省|杭州市|阿里|CN'],
]
const v6: readonly Segment[] = [
  ['240e:3b7::', '240e:3b7:ffff:ffff:ffff:ffff:ffff:ffff', '中国|广东省|深圳市|电信|CN'],
]

/** Writes the format of the maker of ip2region; its checksum for these segments is known. */
function makeXdb(segments: readonly Segment[], version: 4 | 6): Buffer {
  const size = version === 4 ? 4 : 16
  const textStart = 256 + 524_288
  const texts = new Map<string, number>()
  let textLength = 0
  for (const [, , text] of segments) {
    if (!texts.has(text)) texts.set(text, textStart + textLength)
    if (texts.get(text) === textStart + textLength) textLength += Buffer.byteLength(text)
  }
  const records: { cell: number; bytes: Buffer }[] = []
  for (const [first, last, text] of segments) {
    const [from, to] = [first, last].map((one) => Buffer.from(addressBytes(plainAddress(one)!)))
    for (let cell = from!.readUInt16BE(0); cell <= to!.readUInt16BE(0); cell += 1) {
      const start = Buffer.alloc(size)
      const end = Buffer.alloc(size, 255)
      start.writeUInt16BE(cell)
      end.writeUInt16BE(cell)
      if (cell === from!.readUInt16BE(0)) from!.copy(start)
      if (cell === to!.readUInt16BE(0)) to!.copy(end)
      if (version === 4) for (const one of [start, end]) one.reverse()
      const tail = Buffer.alloc(6)
      tail.writeUInt16LE(Buffer.byteLength(text))
      tail.writeUInt32LE(texts.get(text)!, 2)
      records.push({ cell, bytes: Buffer.concat([start, end, tail]) })
    }
  }
  const head = Buffer.alloc(textStart)
  const indexStart = textStart + textLength
  const recordLength = 2 * size + 6
  head.writeUInt16LE(3, 0)
  head.writeUInt16LE(1, 2)
  head.writeUInt32LE(1_767_323_045, 4)
  head.writeUInt32LE(indexStart, 8)
  head.writeUInt32LE(indexStart + (records.length - 1) * recordLength, 12)
  head.writeUInt16LE(version, 16)
  head.writeUInt16LE(4, 18)
  for (const [index, { cell }] of records.entries()) {
    const at = 256 + cell * 8
    if (head.readUInt32LE(at) === 0) head.writeUInt32LE(indexStart + index * recordLength, at)
    head.writeUInt32LE(indexStart + (index + 1) * recordLength, at + 4)
  }
  return Buffer.concat([
    head,
    ...[...texts.keys()].map((text) => Buffer.from(text)),
    ...records.map(({ bytes }) => bytes),
  ])
}

it('reads xdb files of both versions', (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [file4, file6] = [join(folder, '4.xdb'), join(folder, '6.xdb')]
  const data = makeXdb(v4, 4)
  assert.equal(
    createHash('sha256').update(data).digest('hex'),
    'aae63d1dc4397b4ce467a7bce788b7cdb0ec205c6f70b8234ba87edfb14243e0',
  )
  writeFileSync(file4, data)
  writeFileSync(file6, makeXdb(v6, 6))
  const find = (address: string) => loadXdb(file4).find(addressBytes(plainAddress(address)!))
  assert.equal(find('114.114.114.114'), '中国|江苏省|南京市|0|CN')
  assert.equal(find('223.5.255.255'), '中国|浙江省|杭州市|阿里|CN')
  assert.equal(find('223.6.0.0'), '中国|浙江省|杭州市|阿里|CN')
  assert.equal(find('8.8.8.8'), '')
  const locate = createLocator({ v4: file4, v6: file6 })
  assert.deepEqual(locate('::ffff:113.118.112.93'), { country: 'CN', province: 'GD' })
  assert.deepEqual(locate('240e:3b7:3272:d8d0:db09:c067:8d59:539e'), { country: 'CN', province: 'GD' })
  assert.deepEqual(locate('8.8.8.8'), { country: '', province: '' })
  assert.equal(placeFileProblem(file4, 4), undefined)
  assert.match(placeFileProblem(file4, 6) ?? '', /IPv4/)
  assert.match(placeFileProblem(join(folder, 'none'), 4) ?? '', /ENOENT/)
  writeFileSync(join(folder, 'cut'), data.subarray(0, data.length - 1))
  assert.match(placeFileProblem(join(folder, 'cut'), 4) ?? '', /damaged/)
})

it('reads the three formats of a region', () => {
  assert.deepEqual(readRegion('中国|0|广东省|深圳市|电信'), { country: 'CN', province: 'GD' })
  assert.deepEqual(readRegion('中国|广西壮族自治区|南宁市|电信'), { country: 'CN', province: 'GX' })
  assert.deepEqual(readRegion('中国|香港特别行政区|0|0|CN'), { country: 'CN', province: 'HK' })
  assert.deepEqual(readRegion('Hong Kong|0|0|0|HK'), { country: 'CN', province: 'HK' })
  assert.deepEqual(readRegion('United States|California|0|0|US'), { country: 'US', province: '' })
  assert.deepEqual(readRegion('美国|0|0|0|Level3'), { country: 'US', province: '' })
  for (const unknown of ['', '0|0|0|内网IP|内网IP', '0|0|Reserved|Reserved|0'])
    assert.deepEqual(readRegion(unknown), { country: '', province: '' })
  assert.deepEqual(
    [provinceCode('陕西省'), provinceCode('山西'), provinceCode('内蒙古自治区')],
    ['SN', 'SX', 'NM'],
  )
  assert.deepEqual([countryCode('日本'), countryCode('Germany'), countryCode('欧洲')], ['JP', 'DE', ''])
})

it('uses the data of the package without a file, and no private address has a place', () => {
  const locate = createLocator({ v4: undefined, v6: undefined })
  assert.deepEqual(locate('202.96.128.86'), { country: 'CN', province: 'GD' })
  assert.deepEqual(locate('168.95.1.1'), { country: 'CN', province: 'TW' })
  assert.deepEqual(locate('2408:8207:2420::1'), { country: 'CN', province: 'BJ' })
  for (const address of [
    '10.1.2.3',
    '127.0.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '::1',
    'fe80::1%eth0',
    '',
    'x',
  ])
    assert.deepEqual(locate(address), { country: '', province: '' }, address)
})
