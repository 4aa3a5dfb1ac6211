// Runs every alert rule of deploy/alerts.yml in promtool: no alert fires on a healthy service, and each fires on its failure.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { root } from './support/root.ts'

const run = promisify(execFile)
const rules = join(root, 'deploy', 'alerts.yml')

/** Values per minute in promtool's notation, `start+step x COUNT`. */
type SeriesValues = Readonly<Record<string, string>>

const constant = (value: number) => `${value}+0xCOUNT`
const growing = (perMinute: number) => `0+${perMinute}xCOUNT`

/** Minutes of data: enough for the longest range in the rules, and for the alerts that need days. */
const shortCount = 500
const longCount = 2_700
const long = '44h'

const healthy: SeriesValues = {
  'up{job="tollgate"}': constant(1),
  tollgate_database_up: constant(1),
  'tollgate_requests_total{endpoint="sms",code="0"}': growing(60),
  'tollgate_requests_total{endpoint="sms",code="1003"}': growing(1),
  'tollgate_requests_total{endpoint="sms",code="5000"}': constant(0),
  tollgate_operations_open: constant(3),
  'tollgate_request_seconds_bucket{endpoint="sms",le="0.1"}': growing(60),
  'tollgate_request_seconds_bucket{endpoint="sms",le="10"}': growing(60),
  'tollgate_request_seconds_bucket{endpoint="sms",le="+Inf"}': growing(60),
  'tollgate_sms_gateway_calls_total{gateway="aliyun",outcome="accepted"}': growing(10),
  'tollgate_sms_gateway_calls_total{gateway="aliyun",outcome="ambiguous"}': constant(0),
  'tollgate_identity_gateway_open{gateway="aliyun"}': constant(0),
  'tollgate_domain_gateway_up{gateway="jump"}': constant(1),
  'tollgate_link_domains_blocked{pool="a"}': constant(0),
  tollgate_clicks_lost_total: constant(0),
  'tollgate_credits_refunded_total{api_type="sms"}': constant(0),
  'tollgate_credits_charged_total{api_type="sms"}': growing(10),
  nodejs_eventloop_lag_p99_seconds: constant(0.02),
  tollgate_disk_free_bytes: constant(50e9),
  tollgate_disk_size_bytes: constant(100e9),
  tollgate_backup_timestamp_seconds: growing(60),
  tollgate_ledger_check_timestamp_seconds: growing(60),
  tollgate_ledger_check_ok: constant(1),
  tollgate_limits_shared: constant(1),
  tollgate_link_channel_up: constant(1),
  tollgate_sms_queue_oldest_due_seconds: constant(30),
  'tollgate_job_runs_total{name="sweeper",result="success"}': growing(6),
  'tollgate_job_runs_total{name="sweeper",result="failure"}': constant(0),
}

interface AlertCase {
  readonly title: string
  /** Differences to a healthy service; undefined: no such series. */
  readonly changed: Readonly<Record<string, string | undefined>>
  readonly fires: readonly string[]
  readonly after?: string
}

const cases: readonly AlertCase[] = [
  { title: 'healthy', changed: {}, fires: [] },
  { title: 'healthy for days', changed: {}, fires: [], after: long },
  {
    title: 'a single process on SQLite shares nothing',
    changed: { tollgate_limits_shared: undefined, tollgate_link_channel_up: undefined },
    fires: [],
  },
  {
    title: 'quiet without errors',
    changed: { 'tollgate_requests_total{endpoint="sms",code="0"}': constant(5) },
    fires: [],
  },
  { title: 'down', changed: { 'up{job="tollgate"}': constant(0) }, fires: ['TollgateDown'] },
  { title: 'no target', changed: { 'up{job="tollgate"}': undefined }, fires: ['TollgateNotScraped'] },
  {
    title: 'the database is down and nobody calls',
    changed: {
      tollgate_database_up: constant(0),
      'tollgate_requests_total{endpoint="sms",code="0"}': constant(5),
    },
    fires: ['TollgateDatabaseDown'],
  },
  {
    title: 'a quiet site fails wholly: four calls in a quarter of an hour',
    changed: {
      'tollgate_requests_total{endpoint="sms",code="0"}': constant(5),
      'tollgate_requests_total{endpoint="sms",code="1003"}': constant(0),
      'tollgate_requests_total{endpoint="sms",code="5000"}': '0+0x165 1 2 3 4 4+0xCOUNT',
    },
    fires: ['TollgateMostCallsFail'],
    after: '175m',
  },
  {
    title: 'a share of many calls fails',
    changed: { 'tollgate_requests_total{endpoint="sms",code="5000"}': growing(12) },
    fires: ['TollgateInternalErrors'],
  },
  {
    title: 'operations stay held',
    changed: { tollgate_operations_open: constant(150) },
    fires: ['TollgateOperationsStuck'],
  },
  {
    title: 'slow',
    changed: { 'tollgate_request_seconds_bucket{endpoint="sms",le="0.1"}': growing(1) },
    fires: ['TollgateSlow'],
  },
  {
    title: 'an SMS gateway fails',
    changed: { 'tollgate_sms_gateway_calls_total{gateway="aliyun",outcome="ambiguous"}': growing(10) },
    fires: ['TollgateSmsFailing'],
  },
  {
    title: 'an identity gateway is open',
    changed: { 'tollgate_identity_gateway_open{gateway="aliyun"}': constant(1) },
    fires: ['TollgateIdentityGatewayOpen'],
  },
  {
    title: 'a domain gateway is not used',
    changed: { 'tollgate_domain_gateway_up{gateway="jump"}': constant(0) },
    fires: ['TollgateDomainGatewayDown'],
  },
  {
    title: 'a link domain is blocked',
    changed: { 'tollgate_link_domains_blocked{pool="a"}': constant(1) },
    fires: ['TollgateLinkDomainsBlocked'],
  },
  {
    title: 'clicks are lost',
    changed: { tollgate_clicks_lost_total: growing(1) },
    fires: ['TollgateClicksLost'],
  },
  {
    title: 'many refunds',
    changed: { 'tollgate_credits_refunded_total{api_type="sms"}': growing(5) },
    fires: ['TollgateManyRefunds'],
  },
  {
    title: 'many wrong keys',
    changed: { 'tollgate_requests_total{endpoint="sms",code="1003"}': growing(1_500) },
    fires: ['TollgateWrongKeys'],
  },
  {
    title: 'overloaded',
    changed: { nodejs_eventloop_lag_p99_seconds: constant(0.4) },
    fires: ['TollgateEventLoopLag'],
  },
  {
    title: 'the disk is almost full',
    changed: { tollgate_disk_free_bytes: constant(100e6) },
    fires: ['TollgateDiskAlmostFull', 'TollgateDiskFilling'],
  },
  {
    title: 'little space',
    changed: { tollgate_disk_free_bytes: constant(1e9) },
    fires: ['TollgateDiskFilling'],
  },
  {
    title: 'the disk will be full within a day',
    changed: { tollgate_disk_free_bytes: '19000000000-15000000xCOUNT' },
    fires: ['TollgateDiskFilling'],
    after: '7h',
  },
  {
    title: 'never a backup',
    changed: { tollgate_backup_timestamp_seconds: constant(0) },
    fires: ['TollgateBackupTooOld'],
    after: long,
  },
  {
    title: 'the ledger check found problems',
    changed: { tollgate_ledger_check_ok: constant(0) },
    fires: ['TollgateLedgerCheckFailed'],
  },
  {
    title: 'no ledger check',
    changed: { tollgate_ledger_check_timestamp_seconds: constant(0) },
    fires: ['TollgateLedgerCheckTooOld'],
    after: long,
  },
  {
    title: 'limits are not shared',
    changed: { tollgate_limits_shared: constant(0) },
    fires: ['TollgateLimitsNotShared'],
  },
  {
    title: 'no link channel',
    changed: { tollgate_link_channel_up: constant(0) },
    fires: ['TollgateLinkChannelDown'],
  },
  {
    title: 'messages of a batch wait too long',
    changed: { tollgate_sms_queue_oldest_due_seconds: constant(1_000) },
    fires: ['TollgateSmsQueueSlow'],
  },
  {
    title: 'a large batch waits for a few minutes',
    changed: { tollgate_sms_queue_oldest_due_seconds: constant(600) },
    fires: [],
  },
  {
    title: 'a job fails every time',
    changed: {
      'tollgate_job_runs_total{name="sweeper",result="success"}': constant(9),
      'tollgate_job_runs_total{name="sweeper",result="failure"}': growing(6),
    },
    fires: ['TollgateJobFailing'],
  },
  {
    title: 'a job fails sometimes',
    changed: { 'tollgate_job_runs_total{name="sweeper",result="failure"}': growing(1) },
    fires: [],
  },
]

it('every alert fires on its failure and only then', async (context) => {
  const text = await readFile(rules, 'utf8')
  const alerts = [...text.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!)
  assert.deepEqual([...new Set(cases.flatMap(({ fires }) => fires))].toSorted(), alerts.toSorted())
  try {
    await run('promtool', ['--version'])
  } catch {
    context.skip('promtool is not installed')
    return
  }
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-alerts-'))
  try {
    const file = join(directory, 'tests.yml')
    // JSON is YAML.
    await writeFile(
      file,
      JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests: cases.map(toPromtool) }),
    )
    const { stdout } = await run('promtool', ['test', 'rules', file]).catch(
      (error: Error & { stdout: string; stderr: string }) => assert.fail(`${error.stdout}${error.stderr}`),
    )
    assert.match(stdout, /SUCCESS/)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

function toPromtool({ title, changed, fires, after = '3h' }: AlertCase) {
  const count = after === long ? longCount : shortCount
  const series = Object.entries({ ...healthy, ...changed }).flatMap(([name, values]) =>
    values === undefined ? [] : [{ series: name, values: values.replaceAll('COUNT', String(count)) }],
  )
  return {
    name: title,
    interval: '1m',
    input_series: series,
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: after,
        exp_samples: fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  }
}
