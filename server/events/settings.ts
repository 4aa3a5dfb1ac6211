// Settings of events and webhooks.
import {
  choice,
  integer,
  optionalSender,
  optionalUrl,
  secondsList,
  setting,
  type SettingValues,
} from '../setting-parsers.ts'

export const eventSettings = {
  WEBHOOK_RETRY_S: setting(secondsList(30), [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400], {
    zh: 'Webhook 失败后每次重试前等待的秒数，逗号分隔',
    en: 'Seconds to wait before each retry of a webhook, separated by commas',
  }),
  WEBHOOK_ALLOW_PRIVATE: setting(choice('on', 'off'), 'off', {
    zh: 'on：Webhook 可以发往内网和本机地址',
    en: 'on: webhooks may be sent to private and loopback addresses',
  }),
  MAIL_URL: setting(
    optionalUrl(['smtp:', 'smtps:']),
    undefined,
    {
      zh: '邮件服务器，例如 smtps://user%40example.com:密码@smtp.example.com:465；不设置则不发送邮件',
      en: 'Mail server, for example smtps://user%40example.com:password@smtp.example.com:465; unset: no emails are sent',
    },
    'secret',
  ),
  MAIL_FROM: setting(optionalSender, undefined, {
    zh: '发件人地址，设置 MAIL_URL 时必填',
    en: 'Sender address of emails; required by MAIL_URL',
  }),
  EVENT_KEEP_DAYS: setting(integer(1, 3_650), 30, {
    zh: '事件及其投递记录保留的天数',
    en: 'Retention of events and their deliveries in days',
  }),
} as const

export function eventProblems(config: SettingValues<typeof eventSettings>): string[] {
  return config.MAIL_URL && !config.MAIL_FROM
    ? ['MAIL_FROM 缺失，MAIL_URL 需要它 / is required by MAIL_URL']
    : []
}
