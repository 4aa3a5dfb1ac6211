// A change of an account's template is a change of its account: a process that charges a known account may rely on the templates
// that it has read since. PostgreSQL only, where rows have versions.
import type { Migration } from './migration.ts'

export const templateVersions: Migration = {
  name: '0031-template-versions',
  async run(tx) {
    if (tx.engine === 'sqlite') return
    await tx.run(`CREATE FUNCTION tollgate_touch_account() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE account SET sms_enabled = sms_enabled WHERE id = OLD.account_id;
        RETURN NULL;
      END $$`)
    await tx.run(`CREATE TRIGGER touch_account AFTER UPDATE OR DELETE ON sms_template
      FOR EACH ROW WHEN (OLD.account_id IS NOT NULL) EXECUTE FUNCTION tollgate_touch_account()`)
  },
}
