// Builds the console into web/dist; `npx vite` serves it during development beside a running service.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const service = 'http://127.0.0.1:3000'

/** Below this the headers of an answer outweigh what compressing saves. */
const worthCompressing = 1_024

/** Lays `.br` and `.gz` beside each script and style sheet, so that the server sends them as they are. */
function compressed(): Plugin {
  return {
    name: 'tollgate-compressed',
    apply: 'build',
    writeBundle({ dir }) {
      const folder = resolve(dir ?? 'web/dist', 'assets')
      for (const name of readdirSync(folder)) {
        if (!/\.(js|css)$/.test(name)) continue
        const content = readFileSync(join(folder, name))
        if (content.length < worthCompressing) continue
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content))
        writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
      }
    },
  }
}

export default defineConfig({
  root: 'web',
  base: '/console/',
  plugins: [react(), compressed()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The CSP forbids inline script, and small files gain nothing from being inlined as data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    reportCompressedSize: false,
  },
  server: { proxy: { '/console/api': service, '/api': service } },
})
