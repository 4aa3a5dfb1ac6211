// Groups the modules of the console into few files, and lists the files of each page for the script in index.html.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Plugin, Rollup } from 'vite'
import { homeRoutes } from '../contract/console/home.ts'
import { pathOf } from '../contract/console/route.ts'
import { linkRoutes } from '../contract/console/shortlink.ts'
import { apiTypeNames, apiTypes } from '../contract/credits.ts'
import { accountPages, bootText } from '../web/frame/boot.ts'

const web = resolve(import.meta.dirname, '..', 'web')

/** Paths of pages and their modules, as `router.tsx` names them. */
function pageModules(): ReadonlyMap<string, string> {
  const router = readFileSync(resolve(web, 'router.tsx'), 'utf8')
  const pages = router.matchAll(/page\(\s*'([^']+)',\s*\(\) => import\('\.\/([^']+)'\)/g)
  return new Map([...pages].map(([, path, file]) => [path!, resolve(web, file!)]))
}

interface ModuleGraph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null
}

/** A module with everything it imports statically. */
function closure(graph: ModuleGraph, start: string): ReadonlySet<string> {
  const found = new Set<string>()
  const pending = [start]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (found.has(id)) continue
    found.add(id)
    pending.push(...(graph.getModuleInfo(id)?.importedIds ?? []))
  }
  return found
}

/** Modules of at least this many pages are in one file, of two or more in another. */
const commonPages = 6

/**
 * `base`: the sign-in page. `frame`: what the frame adds. `cards`: what the home page adds, without its own modules. `lists`: what the
 * list of links adds, `links`: its modules that few other pages use. `forms`: what dialogs add. `parts`: what lists and dialogs
 * share. `common`: what most other pages share. `shared`: packages that some pages share. `shortlink-parts` and the like: modules of a
 * folder that some pages share. Everything else stays with its page.
 */
export function createGrouping(): (id: string, graph: ModuleGraph) => string | null {
  let groups: ((id: string) => string | null) | undefined
  return (id, graph) => (groups ??= groupModules(graph))(id)
}

function groupModules(graph: ModuleGraph): (id: string) => string | null {
  const entry = resolve(web, 'main.tsx')
  const base = closure(graph, entry)
  const frame = closure(graph, resolve(web, 'frame/frame.tsx'))
  const chart = closure(graph, resolve(web, 'parts/echarts.ts'))
  // One module may have several pages.
  const pages = [...new Set(pageModules().values())].map((file) => closure(graph, file))
  const home = closure(graph, resolve(web, 'home/page.tsx'))
  const lists = closure(graph, resolve(web, 'shortlink/page.tsx'))
  const forms = closure(graph, resolve(web, 'parts/confirm.tsx'))
  return (id) => {
    if (id === entry) return null
    // All of it: a file that `base` imports from would need `base` before it is there.
    if (base.has(id)) return 'base'
    if (frame.has(id)) return 'frame'
    if (chart.has(id)) return 'charts'
    const uses = pages.filter((page) => page.has(id)).length
    if (uses === 0) return null
    // All of it, so that the home page loads no other group.
    if (home.has(id)) return uses > 1 || id.includes('node_modules') ? 'cards' : null
    if (lists.has(id) && forms.has(id)) return 'parts'
    if (lists.has(id)) {
      if (id.includes('node_modules') || uses >= commonPages) return 'lists'
      return uses < 2 ? null : 'links'
    }
    if (forms.has(id)) return 'forms'
    if (uses >= commonPages) return 'common'
    if (uses < 2) return null
    if (id.includes('node_modules')) return 'shared'
    // Operators and account holders rarely open the same pages.
    const folder = id.startsWith(web) ? id.slice(web.length + 1).split('/')[0]! : ''
    return folder === 'parts' || folder === '' ? 'common' : `${folder}-parts`
  }
}

/** Imports inside packages that would load a whole component for one small part of it: importing file, import, replacement. */
const packageImports: readonly (readonly [file: RegExp, from: string, to: string])[] = [
  [/antd\/es\/form\/context\.js$/, '@rc-component/form', '@rc-component/form/es/FormContext'],
  [
    /antd\/es\/color-picker\/(color|util)\.js$/,
    '@rc-component/color-picker',
    '@rc-component/color-picker/es/color',
  ],
  [
    /antd\/es\/(button\/style\/token|tag\/style\/index)\.js$/,
    '../../color-picker/components/ColorPresets',
    resolve(web, 'parts/is-bright.ts'),
  ],
]

/**
 * Imports components of antd and icons from their own files. The index file of a package imports everything, which hides what a page
 * really needs.
 */
export function importDirectly(): Plugin {
  const direct: Readonly<Record<string, (name: string) => string>> = {
    antd: (name) => `antd/es/${name.replaceAll(/(?<!^)(?=[A-Z][a-z])/g, '-').toLowerCase()}`,
    '@ant-design/icons': (name) => `@ant-design/icons/es/icons/${name}`,
  }
  return {
    name: 'tollgate-import-directly',
    enforce: 'pre',
    apply: 'build',
    transform(code, id) {
      for (const [file, from, to] of packageImports) {
        if (file.test(id)) return code.replace(`from '${from}'`, `from '${to}'`)
      }
      if (!id.startsWith(web) || !/\.tsx?$/.test(id)) return null
      const imports = /import \{([^}]*)\} from '(antd|@ant-design\/icons)'/g
      return code.replaceAll(imports, (_all, names: string, source: string) =>
        names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '' && !name.startsWith('type '))
          .map((name) => `import ${name} from '${direct[source]!(name)}'`)
          .join(';'),
      )
    },
  }
}

/** Vite calls the function of this module for every `import()`. */
const preloadModule = '\0vite/preload-helper.js'

/** Replaces Vite's own preloading, after which a failed import fails for ever. */
export function loadFilesFirst(): Plugin {
  return {
    name: 'tollgate-load-files-first',
    enforce: 'pre',
    apply: 'build',
    load: (id) =>
      id === preloadModule
        ? `export { importWithFiles as __vitePreload } from ${JSON.stringify(resolve(web, 'load-files.ts'))}`
        : null,
  }
}

const placeholder = '{} /* PAGES */'
const textPlaceholder = '{} /* BOOT */'
const readsPlaceholder = '{} /* READS */'

/**
 * What a page reads first, without filters in its address: the URLs that the page itself would request. `@29` is the day 29 days ago.
 * `test/browser/connection.heavy.test.ts` checks that each is requested once.
 */
const firstReads = {
  '/': [pathOf(homeRoutes.home, {}, { from: '@29', to: '@0' })],
  '/shortlink': [pathOf(linkRoutes.list, {}, { sort: 'created', order: 'desc', page: 1, size: 20 })],
}

/** The texts that the script of index.html needs, by language. */
function bootTexts(): string {
  const inLanguage = (language: 'zh' | 'en') => {
    const text = bootText[language]
    const groups = accountPages.map((group) => ({
      ...('label' in group ? { name: group.label, label: text[group.label] } : {}),
      items: group.items.map(([path, label]) => [path, text[label]]),
    }))
    return {
      groups,
      sandbox: text.sandboxOf,
      sandboxNames: { sms: text.sms, identity: text.identity, domain_check: text.domainCheck },
      separator: text.separator,
      balances: Object.fromEntries(apiTypes.map((name) => [name, apiTypeNames[name][language]])),
    }
  }
  return JSON.stringify({ zh: inLanguage('zh'), en: inLanguage('en') })
}

/** Writes the files of each page, without those that index.html loads anyway, into the script of index.html. */
export function listPageFiles(): Plugin {
  return {
    name: 'tollgate-page-files',
    transformIndexHtml: {
      order: 'post',
      handler(source, { bundle }) {
        const html = source
          .replace(textPlaceholder, () => bootTexts())
          .replace(readsPlaceholder, () => JSON.stringify(firstReads))
        if (bundle === undefined) return html.replace(placeholder, `{ '': [] }`)
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
        const filesOf = (module: string) => chunkClosure(chunks, module)
        const entry = filesOf(resolve(web, 'index.html'))
        const frame = filesOf(resolve(web, 'frame/frame.tsx')).difference(entry)
        const pages = [...pageModules()].map(([path, module]) => [
          path,
          [...frame, ...filesOf(module).difference(frame).difference(entry)],
        ])
        return html.replace(placeholder, JSON.stringify(Object.fromEntries([['', [...frame]], ...pages])))
      },
    },
  }
}

function chunkClosure(chunks: readonly Rollup.OutputChunk[], module: string): ReadonlySet<string> {
  const found = new Set<string>()
  const first = chunks.find((chunk) => chunk.facadeModuleId === module || chunk.moduleIds.includes(module))
  const pending = first ? [first.fileName] : []
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue
    found.add(name)
    pending.push(...(chunks.find(({ fileName }) => fileName === name)?.imports ?? []))
  }
  return found
}
