// Statements that hold the database's clock, put together once: a text made anew for each call is looked up slowly.
import type { Engine, Queries } from './database.ts'

export function clocked(make: (now: string) => string): (queries: Queries) => string {
  const made = new Map<Engine, string>()
  return ({ engine, now }) => {
    let text = made.get(engine)
    if (text === undefined) {
      text = make(now)
      made.set(engine, text)
    }
    return text
  }
}
