// All migrations in order. From version 1.0 on they are forward only: a released file never changes, a change of the
// schema is a new file with the next number.
import type { Migration } from './migration.ts'
import { accountsAndCredits } from './0001-accounts-and-credits.ts'
import { shortlink } from './0002-shortlink.ts'
import { sms } from './0003-sms.ts'
import { identity } from './0004-identity.ts'
import { domainCheck } from './0005-domain-check.ts'
import { consoleAndLogs } from './0006-console-and-logs.ts'
import { limits } from './0007-limits.ts'
import { boundedGrowth } from './0008-bounded-growth.ts'
import { uniqueNames } from './0009-unique-names.ts'
import { schemaCompatibility } from './0010-schema-compatibility.ts'
import { events } from './0011-events.ts'
import { keyLimits } from './0012-key-limits.ts'
import { signIn } from './0013-sign-in.ts'
import { smsBatches } from './0014-sms-batches.ts'
import { payments } from './0015-payments.ts'
import { callSources } from './0016-call-sources.ts'
import { linkOptions } from './0017-link-options.ts'
import { smsSignaturesAndReplies } from './0018-sms-signatures-and-replies.ts'
import { linkDomainsAndBans } from './0019-link-domains-and-bans.ts'
import { operatorTokens } from './0020-operator-tokens.ts'
import { deletedLinks } from './0021-deleted-links.ts'
import { reconciliationAndInvoices } from './0022-reconciliation-and-invoices.ts'
import { tokenExpiry } from './0023-token-expiry.ts'
import { smsBatchCredits } from './0024-sms-batch-credits.ts'
import { ledgerCheckpoints } from './0025-ledger-checkpoints.ts'
import { invoiceCorrections } from './0026-invoice-corrections.ts'
import { operationNumbers } from './0027-operation-numbers.ts'
import { linkNumbers } from './0028-link-numbers.ts'
import { redeemedEntries } from './0029-redeemed-entries.ts'
import { visitorSketches } from './0030-visitor-sketches.ts'
import { templateVersions } from './0031-template-versions.ts'
import { earlySmsReceipts } from './0032-early-sms-receipts.ts'
import { orderTrades } from './0033-order-trades.ts'
import { smsReplyNumbers } from './0034-sms-reply-numbers.ts'

export const migrations: readonly Migration[] = [
  accountsAndCredits,
  shortlink,
  sms,
  identity,
  domainCheck,
  consoleAndLogs,
  limits,
  boundedGrowth,
  uniqueNames,
  schemaCompatibility,
  events,
  keyLimits,
  signIn,
  smsBatches,
  payments,
  callSources,
  linkOptions,
  smsSignaturesAndReplies,
  linkDomainsAndBans,
  operatorTokens,
  deletedLinks,
  reconciliationAndInvoices,
  tokenExpiry,
  smsBatchCredits,
  ledgerCheckpoints,
  invoiceCorrections,
  operationNumbers,
  linkNumbers,
  redeemedEntries,
  visitorSketches,
  templateVersions,
  earlySmsReceipts,
  orderTrades,
  smsReplyNumbers,
]
