// Settings of the HTTP interface.
import { choice, integer, proxyList, setting } from '../setting-parsers.ts'

export const httpSettings = {
  ERROR_HTTP_STATUS: setting(choice('mapped', 'ok'), 'mapped', {
    zh: 'mapped：按错误码返回 HTTP 状态码；ok：短信、域名检测和身份核验的错误也返回 HTTP 200',
    en: 'mapped: HTTP status by error code; ok: HTTP 200 also for errors of SMS, domain check and identity verification',
  }),
  TRUSTED_PROXIES: setting(proxyList, [], {
    zh: '可信代理的地址或 CIDR，逗号分隔；其 X-Forwarded-For 与 X-Request-Id 有效',
    en: 'Addresses and CIDR ranges of proxies whose X-Forwarded-For and X-Request-Id are trusted',
  }),
  SEND_TIMEOUT_S: setting(integer(1, 3_600), 30, {
    zh: '客户端停止读取响应后，等待多少秒关闭连接',
    en: 'Seconds until a connection is closed whose client has stopped reading the response',
  }),
} as const
