// Draws the QR code of an address as SVG or PNG, with colours and a logo in the middle.
import qrcode from 'qrcode-generator'
import { qrLimits, type qrLevels } from '../../../contract/link-qr.ts'
import { type Pixels, writePng } from './png.ts'

export interface QrOptions {
  /** The width of the picture in pixels. */
  readonly size: number
  /** `#rrggbb`. */
  readonly color: string
  readonly background: string
  readonly level: (typeof qrLevels)[number]
  /** The file and what it shows. */
  readonly logo?: { readonly file: Buffer; readonly pixels: Pixels } | undefined
}

/** The quiet zone that scanners need, in modules. */
const quietZone = 4

interface Matrix {
  /** Modules in a row, with the quiet zone. */
  readonly modules: number
  isDark(row: number, column: number): boolean
}

function matrixOf(text: string, { level, logo }: QrOptions): Matrix {
  // A logo covers modules, which only the highest level makes up for.
  const code = qrcode(0, logo ? 'H' : level)
  code.addData(text)
  code.make()
  const count = code.getModuleCount()
  const isInside = (index: number) => index >= 0 && index < count
  return {
    modules: count + 2 * quietZone,
    isDark(row, column) {
      const [y, x] = [row - quietZone, column - quietZone]
      return isInside(y) && isInside(x) && code.isDark(y, x)
    },
  }
}

/** Where the logo is, as parts of the width. */
function logoBox({ width, height }: Pixels): { x: number; y: number; width: number; height: number } {
  const scale = qrLimits.logoShare / Math.max(width, height)
  const box = { width: width * scale, height: height * scale }
  return { ...box, x: (1 - box.width) / 2, y: (1 - box.height) / 2 }
}

export function formatQrSvg(text: string, options: QrOptions): string {
  const { size, color, background, logo } = options
  const matrix = matrixOf(text, options)
  const { modules } = matrix
  let path = ''
  for (let y = 0; y < modules; y += 1) {
    for (let x = 0; x < modules; x += 1) if (matrix.isDark(y, x)) path += `M${x} ${y}h1v1h-1z`
  }
  let image = ''
  if (logo) {
    const box = logoBox(logo.pixels)
    const part = (value: number) => (value * modules).toFixed(3)
    const place = `x="${part(box.x)}" y="${part(box.y)}" width="${part(box.width)}" height="${part(box.height)}"`
    image = `<rect ${place} fill="${background}"/><image ${place} href="data:image/png;base64,${logo.file.toString('base64')}"/>`
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${modules} ${modules}" shape-rendering="crispEdges"><path fill="${background}" d="M0 0h${modules}v${modules}H0z"/><path fill="${color}" d="${path}"/>${image}</svg>`
}

export async function formatQrPng(text: string, options: QrOptions): Promise<Buffer> {
  const { size, logo } = options
  const matrix = matrixOf(text, options)
  const background = readColor(options.background)
  const [dark, light] = [readColor(options.color), background].map((one) => wordsOf(Uint8Array.from(one))[0]!)
  const data = new Uint8Array(size * size * 4)
  const words = wordsOf(data)
  const line = new Uint32Array(size)
  let drawn = -1
  for (let y = 0; y < size; y += 1) {
    const row = Math.floor((y * matrix.modules) / size)
    // A module is many pixels high, and its lines are the same.
    if (row !== drawn) {
      for (let x = 0; x < size; x += 1)
        line[x] = matrix.isDark(row, Math.floor((x * matrix.modules) / size)) ? dark! : light!
      drawn = row
    }
    words.set(line, y * size)
  }
  if (logo) drawLogo(data, size, logo.pixels, background)
  return writePng({ width: size, height: size, data })
}

/** One number for each pixel. */
function wordsOf(pixels: Uint8Array): Uint32Array {
  return new Uint32Array(pixels.buffer)
}

function drawLogo(
  data: Uint8Array,
  size: number,
  logo: Pixels,
  background: readonly [number, number, number, number],
): void {
  const box = logoBox(logo)
  const [left, top] = [Math.round(box.x * size), Math.round(box.y * size)]
  const [width, height] = [Math.round(box.width * size), Math.round(box.height * size)]
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const from =
        (Math.floor((y * logo.height) / height) * logo.width + Math.floor((x * logo.width) / width)) * 4
      const to = ((top + y) * size + left + x) * 4
      const alpha = logo.data[from + 3]! / 255
      for (let channel = 0; channel < 3; channel += 1) {
        const mixed = logo.data[from + channel]! * alpha + background[channel]! * (1 - alpha)
        data[to + channel] = Math.round(mixed)
      }
    }
  }
}

function readColor(color: string): [number, number, number, number] {
  const part = (start: number) => Number.parseInt(color.slice(start, start + 2), 16)
  return [part(1), part(3), part(5), 255]
}
