// What the receivers of PostgreSQL's notifications agree on.

/** How long after a successful check (from its start) no message can be missing unnoticed. */
export const freshMs = 800

/** The name in `pg_stat_activity` of a connection that receives messages: others wait for its acknowledgement. */
export const listenerName = 'tollgate listening'
