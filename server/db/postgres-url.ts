// Reads DATABASE_URL: host or socket folder, and what `sslmode` means here. The meanings are those of libpq.
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { Text } from '../../contract/text.ts'

export interface PostgresAddress {
  readonly host: string | undefined
  readonly port: number | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string | undefined
  readonly options: string | undefined
  readonly enableChannelBinding: boolean
  readonly ssl: false | ConnectionOptions
  /** `sslmode=prefer`: a server without TLS is used without it. */
  readonly isTlsOptional: boolean
}

export class PostgresUrlProblem extends Error {
  readonly text: Text

  constructor(zh: string, en: string) {
    super(en)
    this.name = 'PostgresUrlProblem'
    this.text = { zh, en }
  }
}

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof sslModes)[number]

const known = new Set([
  ...['host', 'port', 'user', 'password', 'dbname', 'options', 'channel_binding'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
])

/** Parameters of other clients that change nothing here. */
const ignored = new Set(['application_name', 'connect_timeout', 'gssencmode', 'target_session_attrs'])

// `new URL` rejects an empty host after a user name, which is how a socket is often written.
const form = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/

/** Throws `PostgresUrlProblem`. */
export function readPostgresUrl(url: string): PostgresAddress {
  const match = form.exec(url)
  if (!match) {
    throw new PostgresUrlProblem(
      '必须是 postgres://用户:密码@主机:端口/库名，特殊字符必须百分号编码',
      'must look like postgres://user:password@host:port/database, special characters percent-encoded',
    )
  }
  const [, credentials = '', authority = '', path = '', query = ''] = match
  const parameters = new URLSearchParams(query)
  for (const name of parameters.keys()) {
    if (!known.has(name) && !ignored.has(name)) {
      throw new PostgresUrlProblem(`有未知参数 ${name}`, `has the unknown parameter ${name}`)
    }
  }
  const [user = '', ...password] = credentials.split(':')
  const hostAndPort = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority)
  const host = parameters.get('host') ?? decode(hostAndPort?.[1] ?? '').replace(/^\[(.*)\]$/, '$1')
  if (!hostAndPort || host.includes(',')) {
    throw new PostgresUrlProblem('只能有一个主机', 'must name one host')
  }
  const port = parameters.get('port') ?? hostAndPort[2] ?? ''
  if (!/^\d*$/.test(port) || Number(port) > 65_535) {
    throw new PostgresUrlProblem('端口无效', 'has an invalid port')
  }
  return {
    host: host || undefined,
    port: port === '' ? undefined : Number(port),
    user: parameters.get('user') ?? (decode(user) || undefined),
    password: parameters.get('password') ?? (decode(password.join(':')) || undefined),
    database: parameters.get('dbname') ?? (decode(path) || undefined),
    options: parameters.get('options') ?? undefined,
    enableChannelBinding: /^(prefer|require)$/.test(parameters.get('channel_binding') ?? ''),
    // Like libpq: a socket of this machine needs no TLS.
    ...(host.startsWith('/') ? { ssl: false, isTlsOptional: false } : readTls(parameters)),
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new PostgresUrlProblem(
      '百分号编码无效，% 本身必须写成 %25',
      'has an invalid percent-encoding; write % as %25',
    )
  }
}

function readTls(parameters: URLSearchParams): Pick<PostgresAddress, 'ssl' | 'isTlsOptional'> {
  const given = parameters.get('sslmode') ?? 'disable'
  const mode = sslModes.find((name) => name === given)
  if (mode === undefined) {
    throw new PostgresUrlProblem(
      `sslmode 只能是 ${sslModes.join('、')}`,
      `sslmode must be one of ${sslModes.join(', ')}`,
    )
  }
  if (mode === 'disable') return { ssl: false, isTlsOptional: false }
  const rootFile = parameters.get('sslrootcert')
  const usesPublicAuthorities = rootFile === null || rootFile === 'system'
  requireSafe(mode, rootFile)
  const cert = readFile(parameters, 'sslcert')
  const key = readFile(parameters, 'sslkey')
  return {
    ssl: {
      ...(usesPublicAuthorities ? {} : { ca: readFile(parameters, 'sslrootcert') }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...verification(mode, rootFile !== null),
    },
    isTlsOptional: mode === 'prefer',
  }
}

/** Anyone can get a certificate of a public authority, so with them only the host name proves who the server is. */
function requireSafe(mode: SslMode, rootFile: string | null): void {
  if (mode === 'verify-ca' && rootFile === null) {
    throw new PostgresUrlProblem(
      'sslmode=verify-ca 需要 sslrootcert=证书文件；公共证书请用 verify-full',
      'sslmode=verify-ca needs sslrootcert=FILE; with a public authority use verify-full',
    )
  }
  if (mode !== 'verify-full' && rootFile === 'system') {
    throw new PostgresUrlProblem(
      'sslrootcert=system 只能与 sslmode=verify-full 一起使用',
      'sslrootcert=system needs sslmode=verify-full',
    )
  }
}

function verification(mode: SslMode, hasRoot: boolean): ConnectionOptions {
  if (mode === 'verify-full') return { rejectUnauthorized: true }
  if (mode === 'verify-ca' || (mode === 'require' && hasRoot)) {
    return { rejectUnauthorized: true, checkServerIdentity: () => undefined }
  }
  return { rejectUnauthorized: false }
}

function readFile(parameters: URLSearchParams, name: string): string | undefined {
  const file = parameters.get(name)
  if (file === null) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new PostgresUrlProblem(`无法读取 ${name} 指定的文件 ${file}`, `${name}: the file cannot be read`)
  }
}
