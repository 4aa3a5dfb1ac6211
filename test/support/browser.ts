// Opens a Chromium for each test file. Tests report pages that request another origin.
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Chromium from '@sparticuz/chromium'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { ensureConsole } from './console-build.ts'
import { findBrowser } from './find-browser.ts'
import { withLock } from './with-lock.ts'

export interface Look {
  readonly language?: 'zh' | 'en'
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
}

export interface Visitor extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors in the browser's console, uncaught errors, responses with status 500 or higher, and requests to another origin. */
  readonly problems: string[]
  /** Navigates within the console without a reload and waits until the page has loaded its data. */
  navigateTo(path: string): Promise<void>
  /** All violations that axe-core finds on the current page, also moderate and minor ones. */
  findViolations(): Promise<readonly string[]>
}

export interface TestBrowser extends AsyncDisposable {
  visit(baseUrl: string, look?: Look): Promise<Visitor>
}

const browserFound = findBrowser()

/** Why browser tests are skipped on this machine; false when there is a browser. */
export const noBrowser: string | false = browserFound.kind === 'none' && browserFound.reason

/** A test that needs a browser. Where there is none it is skipped, with the reason. */
export function browserTest(name: string, run: () => Promise<void>): void {
  void test(name, { skip: noBrowser }, run)
}

export async function openBrowser(): Promise<TestBrowser> {
  await ensureConsole()
  const browser = await launch()
  return {
    visit: (baseUrl, look) => visit(browser, baseUrl, look),
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

/** Root cannot use the sandbox, and test machines have no graphics card. */
const browserArguments = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage']

/** A browser that does not start ends the test with an error. Long enough for a machine under load. */
const launchTimeoutMs = 60_000

async function launch(): Promise<Browser> {
  const executablePath = await browserPath()
  return chromium.launch({ executablePath, args: browserArguments, headless: true, timeout: launchTimeoutMs })
}

async function browserPath(): Promise<string> {
  if (browserFound.kind === 'none') throw new Error(browserFound.reason)
  if (browserFound.kind === 'executable') return browserFound.path
  // The package unpacks itself into the temporary directory on first use, which only one process may do.
  return withLock('chromium', () => Chromium.executablePath())
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
    // Chromium logs every response with an error status; tests check expected ones themselves.
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
    async navigateTo(path) {
      const heading = page.locator('main h1')
      const from = { page: pageOf(page.url()), title: await heading.textContent() }
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`)
      // Every page has its own title; its tabs and drawers share it.
      if (pageOf(page.url()) !== from.page) {
        // The whole title is compared, because one title may contain another.
        const escaped = (from.title ?? '').replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
        await heading.filter({ hasNotText: new RegExp(`^${escaped}$`) }).waitFor()
      }
      await quiet()
      await page.locator('.ant-skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' })
    },
    async findViolations() {
      // The content security policy forbids added script elements, so axe-core is evaluated from outside the page.
      if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source)
      const found: unknown = await page.evaluate(
        `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
          .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary.split('\\n')[1]).join(' | ')))`,
      )
      return found as readonly string[]
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** The path of a page; what follows the number of an object is a tab. */
function pageOf(url: string): string {
  return new URL(url).pathname.replace(/(\/\d+)\/.*$/, '$1')
}

/** Returns a function that waits until no request is pending for a short time, because a response may cause another request. */
function watchQuiet(page: Page): () => Promise<void> {
  const quietMs = 120
  const pending = new Set<Request>()
  let changedAt = performance.now()
  page.on('request', (request) => {
    pending.add(request)
    changedAt = performance.now()
  })
  const ended = (request: Request) => {
    pending.delete(request)
    changedAt = performance.now()
  }
  page.on('requestfinished', ended)
  page.on('requestfailed', ended)
  return async () => {
    changedAt = performance.now()
    while (pending.size > 0 || performance.now() - changedAt < quietMs) await sleep(20)
  }
}

/** Signs in with the form. */
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

/** Fills in the dialog that sensitive changes open. */
export async function confirmIdentity(page: Page, password: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: '确认身份' })
  await dialog.getByLabel('登录密码').fill(password)
  await dialog.getByRole('button', { name: '确认' }).click()
}
