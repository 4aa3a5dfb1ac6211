// Replaces a helper of antd's colour picker that buttons and tags use (see tools/console-chunks.ts): its file imports the whole picker.

interface Colour {
  toRgb(): { readonly r: number; readonly g: number; readonly b: number }
}

/** Whether black text is easier to read on an opaque background of this colour. */
export function isBright(background: Colour): boolean {
  const { r, g, b } = background.toRgb()
  return r * 0.299 + g * 0.587 + b * 0.114 > 192
}
