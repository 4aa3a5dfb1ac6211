// A real Chromium for tests, out of the npm package; one for each test file. Nothing may reach another origin.
import { setTimeout as sleep } from 'node:timers/promises'
import Chromium from '@sparticuz/chromium'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { ensureConsole } from './console-build.ts'
import { onlyOne } from './only-one.ts'

export interface Look {
  readonly language?: 'zh' | 'en'
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
}

export interface Visitor extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors in the browser's console, uncaught ones, failed loads, and requests to another origin. */
  readonly problems: string[]
  /** Goes to a page of the console without loading it anew, as a link would, and waits until all of it is there. */
  walkTo(path: string): Promise<void>
  /** What axe-core finds on the page as it is now, serious and critical ones only. */
  seriousFindings(): Promise<readonly string[]>
}

export interface TestBrowser extends AsyncDisposable {
  visit(baseUrl: string, look?: Look): Promise<Visitor>
}

export async function openBrowser(): Promise<TestBrowser> {
  await ensureConsole()
  const browser = await launch()
  return {
    visit: (baseUrl, look) => visit(browser, baseUrl, look),
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

/** As root there is no sandbox to be had; without a graphics card none is looked for. */
const browserArguments = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage']

async function launch(): Promise<Browser> {
  // Unpacks itself into the temporary directory when it is first asked for.
  const executablePath = await onlyOne('chromium', () => Chromium.executablePath())
  return chromium.launch({ executablePath, args: browserArguments, headless: true })
}

async function visit(browser: Browser, baseUrl: string, look: Look = {}): Promise<Visitor> {
  const { language = 'zh', theme = 'light', width = 1280, height = 800 } = look
  const context = await browser.newContext({
    baseURL: baseUrl,
    locale: language === 'zh' ? 'zh-CN' : 'en-US',
    timezoneId: 'America/New_York',
    colorScheme: theme,
    viewport: { width, height },
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const problems: string[] = []
  const { origin } = new URL(baseUrl)
  page.on('console', (message) => {
    // Chromium reports every answer with an error status; those that a test provokes are looked at there.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      problems.push(message.text())
    }
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== origin)
      problems.push(`left for ${url.origin}`)
  })
  const quiet = watchQuiet(page)
  page.on('response', (response) => {
    if (response.status() >= 500) problems.push(`${response.status()} ${response.url()}`)
  })
  return {
    page,
    context,
    problems,
    async walkTo(path) {
      const heading = page.locator('main h1')
      const from = { path: new URL(page.url()).pathname, title: await heading.textContent() }
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`)
      // Every page has a title of its own; only its tabs and drawers share it.
      if (new URL(page.url()).pathname !== from.path) {
        await heading.filter({ hasNotText: from.title ?? '' }).waitFor()
      }
      await quiet()
      await page.locator('.ant-skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' })
    },
    async seriousFindings() {
      // The content policy forbids added script elements, as it should: the rules are run from outside.
      if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source)
      const found: unknown = await page.evaluate(
        `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary.split('\\n')[1]).join(' | ')))`,
      )
      return found as readonly string[]
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** What waits until nothing is on its way any more; a page that has just got something may ask for more. */
function watchQuiet(page: Page): () => Promise<void> {
  const quietMs = 120
  const onTheirWay = new Set<Request>()
  let changedAt = performance.now()
  page.on('request', (request) => {
    onTheirWay.add(request)
    changedAt = performance.now()
  })
  const arrived = (request: Request) => {
    onTheirWay.delete(request)
    changedAt = performance.now()
  }
  page.on('requestfinished', arrived)
  page.on('requestfailed', arrived)
  return async () => {
    changedAt = performance.now()
    while (onTheirWay.size > 0 || performance.now() - changedAt < quietMs) await sleep(20)
  }
}

/** Signs in through the form. */
export async function signIn(
  { page }: Visitor,
  who: { readonly username: string; readonly password: string },
): Promise<void> {
  await page.goto('/console/sign-in')
  await page.locator('input[autocomplete=username]').fill(who.username)
  await page.locator('input[type=password]').fill(who.password)
  await page.locator('button[type=submit]').click()
  await page.locator('nav').first().waitFor({ state: 'attached' })
}
