// The logo, as the built console has it.
import { existsSync, readFileSync } from 'node:fs'

const file = new URL('../../web/dist/gate.svg', import.meta.url)

/** Undefined while the console is not built. */
export const logoSvg = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
