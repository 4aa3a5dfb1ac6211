// The frame of an HTML page with its own style and the icon of the service.
import type { Language } from '../../contract/text.ts'

interface FullPage {
  readonly language: Language
  readonly title: string
  readonly style: string
  /** HTML. */
  readonly body: string
}

export function fullPage({ language, title, style, body }: FullPage): string {
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="/favicon.svg">
<style>
${style}
</style>
</head>
<body>
${body}
</body>
</html>
`
}

/** The policy of such a page: it loads nothing but images of this origin. */
export const fullPagePolicy = `default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'`
