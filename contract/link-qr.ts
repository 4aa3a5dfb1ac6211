// QR codes of links: limits, and how a scan is distinguished from other visits.

/** An address with this query counts as a scan. The query is not passed on to the target. */
export const scanQuery = '?qr=1'

/** Stands for a code that is not generated yet. No link can have it: codes begin with a letter or digit. */
export const sampleCode = '_sample'

/** The referrer of a scan in the statistics. */
export const scanReferrer = 'qr'

export const qrFormats = ['svg', 'png'] as const

export const qrLevels = ['L', 'M', 'Q', 'H'] as const

export const qrLimits = {
  size: { min: 128, max: 2_048, default: 512 },
  /** Of the logo's file, a PNG. */
  logoBytes: 262_144,
  logoPixels: 512,
  /** The part of the code's width that a logo covers. */
  logoShare: 0.22,
  /** Contrast between both colours, as in WCAG; less is hard to scan. */
  minContrast: 3,
} as const

/** From 1 to 21. */
export function contrastOf(first: string, second: string): number {
  const [light, dark] = [luminance(first), luminance(second)].sort((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(color.slice(start, start + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
