// All migrations in order. Forward only: a landed file is never changed, the next one gets the next number.
import type { NamedMigration } from '../migrate.ts'
import { migration as foundation } from './0001-foundation.ts'
import { migration as shortlink } from './0010-shortlink.ts'
import { migration as sms } from './0020-sms.ts'
import { migration as identity } from './0030-identity.ts'
import { migration as domainWatch } from './0040-domain-watch.ts'
import { migration as console } from './0050-console.ts'
import { migration as consoleProducts } from './0060-console-products.ts'
import { migration as linkTotals } from './0070-link-totals.ts'
import { migration as severalProcesses } from './0080-several-processes.ts'
import { migration as ledgerCarried } from './0090-ledger-carried.ts'
import { migration as codePlaces } from './0100-code-places.ts'
import { migration as clickJournal } from './0110-click-journal.ts'

export const migrations: readonly NamedMigration[] = [
  { name: '0001-foundation', run: foundation },
  { name: '0010-shortlink', run: shortlink },
  { name: '0020-sms', run: sms },
  { name: '0030-identity', run: identity },
  { name: '0040-domain-watch', run: domainWatch },
  { name: '0050-console', run: console },
  { name: '0060-console-products', run: consoleProducts },
  { name: '0070-link-totals', run: linkTotals },
  { name: '0080-several-processes', run: severalProcesses },
  { name: '0090-ledger-carried', run: ledgerCarried },
  { name: '0100-code-places', run: codePlaces },
  { name: '0110-click-journal', run: clickJournal },
]
