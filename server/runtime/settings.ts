// Settings of the process: where it listens, and where its data is.
import {
  choice,
  host,
  integer,
  optional,
  optionalUrl,
  publicOrigin,
  setting,
  text,
} from '../setting-parsers.ts'

export const runtimeSettings = {
  PORT: setting(integer(0, 65_535), 3000, { zh: '监听端口', en: 'Port to listen on' }),
  HOST: setting(host, '127.0.0.1', { zh: '监听地址', en: 'Address to listen on' }),
  PUBLIC_URL: setting(publicOrigin, undefined, {
    zh: '对外地址，不含路径，默认 http://HOST:PORT',
    en: 'Public base URL without a path; default http://HOST:PORT',
  }),
  WORKERS: setting(integer(1, 256), 1, {
    zh: '处理请求的进程数；同 npm start -- --workers N',
    en: 'Number of worker processes; same as npm start -- --workers N',
  }),
  DATA_DIR: setting(text, './data', {
    zh: 'SQLite 文件与首次启动生成的密钥所在目录',
    en: 'Folder of the SQLite file and of the secrets created at first start',
  }),
  DATABASE_URL: setting(
    optionalUrl(['postgres:', 'postgresql:']),
    undefined,
    {
      zh: 'PostgreSQL 地址；不设则使用内嵌 SQLite',
      en: 'PostgreSQL URL; without it the embedded SQLite is used',
    },
    'secret',
  ),
  SECRET_KEY: setting(
    optional(32),
    undefined,
    {
      zh: '个人数据哈希与会话的密钥，至少 32 个字符；多台机器须相同',
      en: 'Key for hashes of personal data and for sessions, at least 32 characters; must be the same on every machine',
    },
    'secret',
  ),
  SAMPLE_ACCOUNT: setting(choice('on', 'off'), 'on', {
    zh: '首次启动是否创建示例账户',
    en: 'Create a sample account at first start',
  }),
} as const
