// The tile grid of provinces, and which shade a number of visits has.

/** Each province at its approximate place; a dot is empty. */
const grid = `
  .  .  .  .  .  .  .  .  HL
  .  .  .  .  .  NM .  .  JL
  XJ .  GS NX SX HE BJ TJ LN
  .  QH .  SN HA SD .  .  .
  XZ .  SC CQ HB AH JS SH .
  .  .  YN GZ HN JX ZJ .  .
  .  .  .  GX GD FJ .  TW .
  .  .  .  HI MO HK .  .  .`

/** Rows and columns count from 1. */
export const placedProvinces = grid
  .trim()
  .split('\n')
  .flatMap((line, row) =>
    line
      .trim()
      .split(/\s+/)
      .map((code, column) => ({ code, row: row + 1, column: column + 1 })),
  )
  .filter(({ code }) => code !== '.')

const shades = 4

/** 0 for no visits, else 1 to 4: equal parts of the largest number. */
export function shadeOf(count: number, max: number): number {
  return count <= 0 ? 0 : Math.min(shades, Math.ceil((shades * count) / Math.max(1, max)))
}

interface ShadeBounds {
  readonly from: number
  readonly to: number
}

/** The smallest and the largest number of each shade that a number can have. */
export function shadeBounds(max: number): readonly ShadeBounds[] {
  const bounds: ShadeBounds[] = [{ from: 0, to: 0 }]
  for (let shade = 1; shade <= shades; shade += 1) {
    const to = Math.floor((shade * max) / shades)
    const from = Math.floor(((shade - 1) * max) / shades) + 1
    if (from <= to) bounds.push({ from, to })
  }
  return bounds
}
