// The tables of both engines, one row type each, by domain. Stores take their row types from here: `Pick<Tables['link'], 'id' | 'code'>`.
//
// Times are milliseconds since 1970, flags are 0 or 1, JSON is text. A column that is null in some rows says so.
import type { AccountTables } from './schema/accounts.ts'
import type { CreditTables } from './schema/credits.ts'
import type { DomainCheckTables } from './schema/domain-check.ts'
import type { EventTables } from './schema/events.ts'
import type { IdentityTables } from './schema/identity.ts'
import type { PaymentTables } from './schema/payments.ts'
import type { PlatformTables } from './schema/platform.ts'
import type { RequestLogTables } from './schema/request-log.ts'
import type { SignInTables } from './schema/sign-in.ts'
import type { LinkTables } from './schema/shortlink.ts'
import type { SmsTables } from './schema/sms.ts'

export interface Tables
  extends
    PlatformTables,
    AccountTables,
    SignInTables,
    CreditTables,
    RequestLogTables,
    LinkTables,
    SmsTables,
    IdentityTables,
    DomainCheckTables,
    EventTables,
    PaymentTables {}
