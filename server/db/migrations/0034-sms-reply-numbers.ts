// Finds the replies of one number: an account may have hundreds of thousands, and `get_replies` read them all.
import type { Migration } from './migration.ts'

export const smsReplyNumbers: Migration = {
  name: '0034-sms-reply-numbers',
  async run(tx) {
    await tx.run('CREATE INDEX sms_reply_number ON sms_reply (account_id, phone, received_at, id)')
  },
}
