// The visitors of a past day of several links can be counted together: some of their hashes stay, without the salt of the day.
import type { Migration } from './migration.ts'

export const visitorSketches: Migration = {
  name: '0030-visitor-sketches',
  async run(tx) {
    await tx.run("ALTER TABLE link_visitor_day ADD COLUMN sketch text NOT NULL DEFAULT ''")
  },
}
