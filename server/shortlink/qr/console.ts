// Console routes of QR codes: draw one and return it as a file.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { linkQrRoutes, type QrInput } from '../../../contract/console/link-qr.ts'
import { contrastOf, qrLimits, scanQuery } from '../../../contract/link-qr.ts'
import { createAccountTurns } from '../../accounts/batch-turns.ts'
import { invalidFields, notFound } from '../../console/problem.ts'
import type { Api } from '../../console/routes.ts'
import type { Shortlink } from '../api.ts'
import { type Pixels, readPng } from './png.ts'
import { formatQrPng, formatQrSvg } from './qr.ts'

/** A page shows one code; more wait for those of other accounts. */
const turns = { maxRunning: 1, maxWaiting: 200 }

export function linkQrPages(api: Api, links: Shortlink): void {
  const inTurn = createAccountTurns(turns)

  /** One at a time, with a rest as long as the work: drawing is free, and paid calls and redirects would wait. */
  const drawInTurn = (accountId: number, name: string, url: string, input: QrInput) =>
    inTurn(accountId, async () => {
      await nextTurn()
      const start = performance.now()
      try {
        return await draw(name, url, input)
      } finally {
        await sleep(Math.min(performance.now() - start, maxRestMs))
      }
    })

  api.account(linkQrRoutes.draw, async (request, input) => {
    const found = await links.list.find(request.account.id, request.id())
    if (!found) throw notFound()
    const { a_url: a, b_url: b, short_code: code } = found.link
    return drawInTurn(request.account.id, code, input.address === 'b' ? b : a, input)
  })
  api.account(linkQrRoutes.sample, ({ account }, { url, ...input }) =>
    drawInTurn(account.id, 'sample', url, input),
  )
}

const maxRestMs = 100

async function draw(name: string, url: string, input: QrInput) {
  const color = (input.color ?? '#000000').toLowerCase()
  const background = (input.background ?? '#ffffff').toLowerCase()
  if (contrastOf(color, background) < qrLimits.minContrast) throw invalidFields({ color: lowContrast })
  const logo = input.logo === undefined ? undefined : readLogo(input.logo)
  const address = `${url}${input.counts_scans === false ? '' : scanQuery}`
  const options = {
    size: input.size ?? qrLimits.size.default,
    color,
    background,
    level: input.level ?? 'M',
    logo,
  }
  const isPng = input.format === 'png'
  const file = isPng ? await formatQrPng(address, options) : Buffer.from(formatQrSvg(address, options))
  return {
    name: `${name}.${input.format}`,
    type: isPng ? 'image/png' : 'image/svg+xml',
    address,
    data: file.toString('base64'),
  }
}

/** By its content, whatever the name of the file was. */
function readLogo(base64: string): { file: Buffer; pixels: Pixels } {
  const file = Buffer.from(base64, 'base64')
  const pixels = file.length > qrLimits.logoBytes ? undefined : readPng(file, qrLimits.logoPixels)
  if (!pixels) throw invalidFields({ logo: wrongLogo })
  return { file, pixels }
}

const lowContrast = {
  zh: '两种颜色的对比度不足，难以扫描',
  en: 'The contrast of the colors is too low to scan',
}
const wrongLogo = {
  zh: `必须是 PNG 图片，最大 ${qrLimits.logoPixels} × ${qrLimits.logoPixels} 像素、${qrLimits.logoBytes / 1024} KB`,
  en: `Must be a PNG of at most ${qrLimits.logoPixels} × ${qrLimits.logoPixels} pixels and ${qrLimits.logoBytes / 1024} KB`,
}
