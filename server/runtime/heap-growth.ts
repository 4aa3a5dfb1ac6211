// Lets V8's old generation grow further between two collections. By default it grows by 10 to 30 % when collections take a small part of
// the time, and buffers outside of the heap count too, so a few large bodies cause a collection of the whole heap (10 to 30 ms).
import { setFlagsFromString } from 'node:v8'

/** In per cent of what was left by the last collection. */
export const heapGrowthFlag = '--heap-growing-percent=150'

/** Call it after the start, which collects the heap itself. */
export function growHeapFurther(): void {
  setFlagsFromString(heapGrowthFlag)
}
