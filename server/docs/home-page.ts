// The public home page.
import type { FastifyReply } from 'fastify'

const page = `<!doctype html>
<html lang="zh-CN">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate 开放平台</title>
<link rel="icon" type="image/svg+xml" href="/favicon.svg">
<style>
body { font: 16px/1.7 system-ui, "PingFang SC", "Microsoft YaHei", sans-serif; max-width: 40rem; margin: 12vh auto; padding: 0 1.5rem; color: #1f2328; background: #fff }
h1 { font-size: 1.8rem; margin: 0 0 .5rem }
p { margin: .5rem 0; color: #57606a }
ul { padding: 0; list-style: none }
li { padding: .3rem 0; border-bottom: 1px solid #d8dee4 }
code { font-size: .9em }
a { color: #0550ae }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3 } p { color: #9198a1 } li { border-color: #30363d } a { color: #79b8ff } }
</style>
</head>
<body>
<h1>Tollgate 开放平台</h1>
<p>短链接、模板短信、身份核验、域名拦截检测，一个密钥，一本额度账。</p>
<p lang="en">Short links, template SMS, identity verification and domain block checks: one key, one credit ledger.</p>
<ul>
<li>短链接 <code>POST /api/shortlink_api.php</code></li>
<li>短信 <code>GET, POST /api/sms_api.php</code></li>
<li>身份核验 <code>GET, POST /api/id_verification_api.php</code></li>
<li>域名检测 <code>GET, POST /api/video_platform_check.php</code></li>
</ul>
<p><a href="/docs/">接口文档</a> · <a href="/docs/en/" lang="en">Reference</a> · <a href="/console/">控制台 Console</a></p>
</body>
</html>
`

export function homePage(reply: FastifyReply): FastifyReply {
  return reply
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'`,
    )
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .type('text/html; charset=utf-8')
    .send(page)
}
