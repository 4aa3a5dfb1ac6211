// pgbench with the statement of a charge: balance, operation and ledger entry in one transaction per call.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Measured, percentiles } from './measure.ts'

/** `account` is an SQL expression or a variable of the pgbench script. */
export function chargeStatement(account: string): string {
  return `WITH spent AS (
      UPDATE credit SET used = used + 1 WHERE account_id = ${account} AND api_type = 'sms' AND used < total
      RETURNING total - used AS left_over
    ), opened AS (
      INSERT INTO operation (account_id, api_type, action, cost, state, lease_until, request_id, created_at)
      SELECT ${account}, 'sms', 'bench', 1, 'held', 0, 'bench', 0 FROM spent RETURNING id
    )
    INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
    SELECT ${account}, 'sms', 'charge', -1, spent.left_over, opened.id, 0 FROM spent, opened`
}

/** Each transaction charges a random account with an id from `first` to `last`. */
export async function runPgbench(
  url: string,
  { first, last, clients, seconds }: { first: number; last: number; clients: number; seconds: number },
): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-pgbench-'))
  try {
    const script = join(directory, 'charge.sql')
    // The statement is written on one line.
    const statement = chargeStatement(':account').replaceAll(/\s+/g, ' ')
    writeFileSync(script, `\\set account random(${first}, ${last})\n${statement};\n`)
    const { stdout } = await promisify(execFile)(
      'pgbench',
      [
        ...['--no-vacuum', '--protocol=prepared', '--log', '--file', script],
        ...[`--client=${clients}`, '--jobs=1', `--time=${Math.max(1, Math.round(seconds))}`, url],
      ],
      { cwd: directory },
    )
    const latencies = readdirSync(directory)
      .filter((name) => name.startsWith('pgbench_log'))
      .flatMap((name) => readFileSync(join(directory, name), 'utf8').trim().split('\n'))
      // Columns: client, transaction number, microseconds.
      .map((line) => Number(line.split(' ')[2]) / 1000)
    return {
      perSecond: Math.round(Number(/tps = ([\d.]+)/.exec(stdout)?.[1])),
      ...percentiles(Float64Array.from(latencies)),
      calls: latencies.length,
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
