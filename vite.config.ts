// Builds the console into web/dist; `npx vite` serves it during development beside a running service.
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { compressConsole, recordBuild } from './tools/console-build.ts'
import { createGrouping, importDirectly, listPageFiles, loadFilesFirst } from './tools/console-chunks.ts'

const service = 'http://127.0.0.1:3000'

/** Compressed copies, and the record by which `prepare` and a test know what the build was made from. */
function finished(): Plugin {
  return {
    name: 'tollgate-finished',
    apply: 'build',
    writeBundle({ dir = 'web/dist' }) {
      const folder = resolve(dir)
      compressConsole(folder)
      recordBuild(folder)
    },
  }
}

export default defineConfig({
  root: 'web',
  base: '/console/',
  resolve: {
    // Tooltips that share one popup: the console has none, and its code would be part of the sign-in page.
    alias: [
      // The console sends input and the service checks it: no schema is needed in the browser.
      { find: /^typebox$/, replacement: resolve(import.meta.dirname, 'web/api/no-schemas.ts') },
      {
        find: /^\.\.\/tooltip\/UniqueProvider$/,
        replacement: resolve(import.meta.dirname, 'web/parts/no-unique-tooltips.tsx'),
      },
      // What draws every icon, also those inside antd.
      {
        find: /^\.\.\/components\/AntdIconLight$/,
        replacement: resolve(import.meta.dirname, 'web/parts/antd-icon.tsx'),
      },
    ],
  },
  plugins: [importDirectly(), loadFilesFirst(), react(), listPageFiles(), finished()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The CSP forbids inline script, and small files gain nothing from being inlined as data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: createGrouping() }] },
      },
    },
  },
  server: { proxy: { '/console/api': service, '/api': service } },
})
