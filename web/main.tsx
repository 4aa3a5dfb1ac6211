// Entry point of the console in the browser.
import { createRoot } from 'react-dom/client'
import { readViewAs } from './api/view-as.ts'
import { Console } from './frame/console.tsx'

readViewAs()
const root = document.getElementById('root')
if (root) createRoot(root).render(<Console />)
