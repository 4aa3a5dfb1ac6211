// Entry point of the console in the browser.
import { createRoot } from 'react-dom/client'
import { createQueryClient, storeStart } from './api/hooks.ts'
import { takeFirstStart } from './api/first-start.ts'
import { readViewAs } from './api/view-as.ts'
import { Console } from './frame/console.tsx'
import { createConsoleRouter } from './router.tsx'

readViewAs()
const client = createQueryClient()
const router = createConsoleRouter()

/** What index.html shows stays until the page and the session are there. The sign-in page needs neither. */
async function prepare(): Promise<void> {
  if (document.documentElement.dataset['plain'] !== undefined) return
  const [start] = await Promise.all([takeFirstStart(), router.load().catch(() => undefined)])
  if (start) storeStart(client, start)
}

const root = document.getElementById('root')
if (root) void prepare().then(() => createRoot(root).render(<Console client={client} router={router} />))
