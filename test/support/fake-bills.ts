// Bills as payment providers make them: Alipay's ZIP of GBK files, WeChat Pay's gzip, Stripe's lists.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

export interface FakeBillRow {
  readonly number: string
  readonly amount: number
  readonly trade?: string
  /** The number of a refund. */
  readonly refund?: string
  readonly currency?: string
  readonly name?: string
}

export const yuan = (minor: number) => `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`

let table: Map<string, Buffer> | undefined

/** Node can decode GBK but not encode it. */
function gbk(text: string): Buffer {
  if (!table) {
    table = new Map()
    const decoder = new TextDecoder('gbk')
    for (let high = 0x81; high <= 0xfe; high += 1) {
      for (let low = 0x40; low <= 0xfe; low += 1) {
        const bytes = Buffer.from([high, low])
        const character = decoder.decode(bytes)
        if (character.length === 1 && !table.has(character)) table.set(character, bytes)
      }
    }
  }
  const known = table
  return Buffer.concat([...text].map((one) => (one < '\u0080' ? Buffer.from(one) : known.get(one)!)))
}

function zip(files: readonly (readonly [string, Buffer])[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of files) {
    const data = deflateRawSync(content)
    const title = gbk(name)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(data.length, 14)
    fields.writeUInt32LE(content.length, 18)
    fields.writeUInt16LE(title.length, 22)
    parts.push(Buffer.from('PK\u0003\u0004'), fields, title, data)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), fields, tail, title)
    offset += 30 + title.length + data.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(list.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, list, Buffer.from('PK\u0005\u0006'), end])
}

const alipayTitles =
  '支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注'

export function alipayBill(rows: readonly FakeBillRow[]): Buffer {
  const lines = rows.map(({ number, amount, trade = `ali${number}`, refund = '', name = '套餐, 标准' }) => {
    const money = `${refund === '' ? '' : '-'}${yuan(amount)}`
    const type = refund === '' ? '交易' : '退款'
    const time = '2026-01-02 10:00:00'
    const zeros = ['0.00', '0.00', '0.00', '0.00', '0.00', '', '0.00', '0.00']
    const buyer = '138****0000'
    return [
      `${trade}\t`,
      `${number}\t`,
      type,
      name,
      time,
      time,
      '',
      '',
      '',
      '',
      buyer,
      money,
      money,
      ...zeros,
      `${refund}\t`,
      '-0.01',
      '0.00',
      '',
    ].join(',')
  })
  const detail = [
    '#支付宝业务明细查询',
    '#账号：[20880000000000000156]',
    alipayTitles,
    ...lines,
    '#业务明细列表结束',
    '',
  ]
  const sums = ['#支付宝业务汇总查询', '门店编号,门店名称,交易订单总笔数', '合计,,1', '']
  return zip([
    ['业务明细(汇总).csv', gbk(sums.join('\r\n'))],
    ['业务明细.csv', gbk(detail.join('\r\n'))],
  ])
}

const wechatpayTitles =
  '交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率,订单金额,申请退款金额,费率备注'

/** Returned as the file and as what it contains. */
export function wechatpayBill(rows: readonly FakeBillRow[]): { file: Buffer; content: Buffer } {
  const lines = rows.map(
    ({ number, amount, trade = `42${number}`, refund, currency = 'CNY', name = '套餐' }) => {
      const isRefund = refund !== undefined
      const [paid, back] = isRefund ? ['0.00', yuan(amount)] : [yuan(amount), '0.00']
      return [
        '2026-01-02 10:00:00',
        'wx0000000000000001',
        '1900000001',
        '0',
        '',
        trade,
        number,
        'openid',
        'NATIVE',
        isRefund ? 'REFUND' : 'SUCCESS',
        'OTHERS',
        currency,
        paid,
        '0.00',
        isRefund ? `50${number}` : '0',
        refund ?? '0',
        back,
        '0.00',
        isRefund ? 'ORIGINAL' : '',
        isRefund ? 'SUCCESS' : '',
        name,
        '',
        '0.00000',
        '0.60%',
        isRefund ? yuan(amount) : paid,
        back,
        '',
      ]
        .map((cell) => `\`${cell}`)
        .join(',')
    },
  )
  const sums = ['总交易单数,应结订单总金额', '`1,`0.01']
  const content = Buffer.from(`\uFEFF${[wechatpayTitles, ...lines, ...sums, ''].join('\r\n')}`)
  return { file: gzipSync(content), content }
}

export function stripeList(kind: 'charges' | 'refunds', rows: readonly FakeBillRow[]): unknown[] {
  const isRefunds = kind === 'refunds'
  return rows
    .filter(({ refund }) => (refund !== undefined) === isRefunds)
    .map(({ number, amount, trade = `pi_cs_test_${number}`, refund, currency = 'CNY' }, index) => ({
      id: `${isRefunds ? 're' : 'ch'}_${index}`,
      amount,
      currency: currency.toLowerCase(),
      payment_intent: trade,
      ...(isRefunds
        ? { status: 'succeeded', metadata: { refund }, charge: { metadata: { order: number } } }
        : { status: 'succeeded', paid: true, metadata: { order: number } }),
    }))
}
