// How quickly pages of the console appear on a slow connection: a real browser, its own throttling, an empty cache.
import type { Page } from 'playwright-core'
import { noBrowser, openBrowser, signIn, type Visitor } from '../test/support/browser.ts'
import { createSampleData } from '../test/support/sample-data.ts'
import { startService } from '../test/support/service.ts'
import type { Part } from './report.ts'

/** Slow 4G: 150 ms for each request, 1.6 Mbit/s down, 0.75 Mbit/s up. */
const slow = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1_000_000) / 8,
  uploadThroughput: (0.75 * 1_000_000) / 8,
}

interface Load {
  /** Milliseconds until the largest content was painted: often a text that is there before any data. */
  readonly painted: number
  /** Milliseconds until the first of the user's data was painted. */
  readonly data: number
  readonly requests: number
  /** Transferred bytes of all responses until then and shortly after. */
  readonly bytes: number
}

interface NetworkLimits {
  readonly paintedMs?: number
  readonly requests?: number
  readonly kilobytes?: number
}

export async function firstLoadBench(part: Part): Promise<void> {
  if (noBrowser !== false) {
    part.row({ name: 'first load', skipped: noBrowser })
    return
  }
  await using service = await startService('sqlite')
  await using browser = await openBrowser()
  const accounts = await createSampleData(service)
  const row = (name: string, { painted, data, requests, bytes }: Load, limits: NetworkLimits) =>
    part.row({
      name,
      value: Math.max(painted, data),
      unit: 'ms',
      note: `LCP ${Math.round(painted)} ms, data ${Math.round(data)} ms, ${requests} requests, ${Math.round(bytes / 1000)} kB`,
      expected: [
        ...(limits.paintedMs === undefined
          ? []
          : [{ text: `≤ ${limits.paintedMs} ms`, met: Math.max(painted, data) <= limits.paintedMs }]),
        ...(limits.requests === undefined
          ? []
          : [{ text: `≤ ${limits.requests} requests`, met: requests <= limits.requests }]),
        ...(limits.kilobytes === undefined
          ? []
          : [{ text: `≤ ${limits.kilobytes} kB`, met: bytes <= limits.kilobytes * 1000 }]),
      ],
    })
  await using stranger = await browser.visit(service.url)
  row('sign-in page', await load(stranger, '/console/sign-in', 'form'), { kilobytes: 160, requests: 20 })
  await using holder = await browser.visit(service.url)
  await signIn(holder, accounts.holder)
  await holder.page.locator('main h1').waitFor()
  row('home page', await load(holder, '/console/', '.figure'), { paintedMs: 2_000, requests: 20 })
  row('short links', await load(holder, '/console/shortlink', '.boot-row, .ant-table-row'), {
    paintedMs: 2_500,
    requests: 20,
  })
}

/** `ready` selects the first of the user's data. */
async function load({ page }: Visitor, path: string, ready: string): Promise<Load> {
  await page.addInitScript({ content: noteText(ready) })
  const protocol = await page.context().newCDPSession(page)
  await page.goto('about:blank')
  await protocol.send('Network.enable')
  await protocol.send('Network.clearBrowserCache')
  await protocol.send('Network.emulateNetworkConditions', slow)
  let requests = 0
  let bytes = 0
  protocol.on('Network.requestWillBeSent', () => (requests += 1))
  protocol.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.goto(path)
  await page.locator(ready).first().waitFor()
  const painted = await largestPaint(page)
  const data = Number(await page.evaluate(`window.textPaintedAt[${JSON.stringify(ready)}]`))
  await protocol.detach()
  return { painted, data, requests, bytes }
}

/** A script for the page: notes the time of the first frame that shows text in an element. */
function noteText(selector: string): string {
  return `{
    const selector = ${JSON.stringify(selector)}
    const observer = new MutationObserver(() => {
      if (!document.querySelector(selector)?.textContent) return
      observer.disconnect()
      // The callback runs before the frame is painted, the message arrives after it.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => (window.textPaintedAt = { ...window.textPaintedAt, [selector]: performance.now() })
        port2.postMessage(undefined)
      })
    })
    observer.observe(document, { childList: true, subtree: true, characterData: true })
  }`
}

/** The last candidate once none has followed for a second. */
async function largestPaint(page: Page): Promise<number> {
  const measured: unknown = await page.evaluate(`new Promise((resolve) => {
    let last = 0
    let timer = setTimeout(() => resolve(last), 1000)
    new PerformanceObserver((list) => {
      last = list.getEntries().at(-1).startTime
      clearTimeout(timer)
      timer = setTimeout(() => resolve(last), 1000)
    }).observe({ type: 'largest-contentful-paint', buffered: true })
  })`)
  return Number(measured)
}
