// Lint rules for imports between folders, defined by the tables below.
import { dirname, relative, resolve, sep } from 'node:path'

/** Folders that never import each other. */
const products = ['shortlink', 'sms', 'identity', 'domain-check', 'payments', 'statements']

/** Files that the console routes of products, credits, audit log and request log may import. */
const consoleKit = [
  'access.ts',
  'confirmation.ts',
  'operator-actor.ts',
  'call-from-console.ts',
  'csv.ts',
  'fields.ts',
  'guess-limits.ts',
  'password-check.ts',
  'problem.ts',
  'routes.ts',
  'schema.ts',
].map((name) => `server/console/${name}`)

/** A folder's console routes. They use the console kit; the rest of the folder does not. */
const consoleRoutes = /\/(.+-)?console\.ts$/

const kernel = [
  'contract/',
  'server/http/',
  'server/db/',
  'server/jobs.ts',
  'server/metric-reads.ts',
  'server/compact-heap.ts',
  'server/lazy-cache.ts',
  'server/encryption.ts',
  'server/random.ts',
  'server/setting-parsers.ts',
]
const composed = ['server/config.ts', 'server/services.ts']

/**
 * A file in `folder` may import that folder and what `may` lists: names that end in a slash are folders, others are
 * files. `types` lists what it may import with `import type` only. The first rule that matches a file applies;
 * `files` narrows a rule to some files of the folder.
 */
const folderRules = [
  { folder: 'contract/', may: [] },
  { folder: 'web/', may: ['contract/'] },
  { folder: 'sdk/', may: ['contract/'] },
  { folder: 'cli/', may: ['contract/', 'server/'] },
  ...products.flatMap((product) => {
    const may = [
      ...kernel,
      'server/accounts/',
      'server/audit/',
      'server/credits/',
      'server/events/',
      'server/places/',
      'server/upstream/',
    ]
    return [
      {
        folder: `server/${product}/gateways/`,
        may: ['contract/', `server/${product}/port.ts`, 'server/upstream/'],
      },
      {
        folder: `server/${product}/`,
        files: consoleRoutes,
        may: [...may, ...consoleKit],
        types: composed,
      },
      { folder: `server/${product}/`, may, types: composed },
    ]
  }),
  ...[
    { folder: 'server/credits/', may: [...kernel, 'server/accounts/', 'server/audit/', 'server/events/'] },
    { folder: 'server/audit/', may: kernel },
    { folder: 'server/request-log/', may: [...kernel, 'server/accounts/'] },
  ].flatMap(({ folder, may }) => [
    {
      folder,
      files: consoleRoutes,
      may: [...may, ...consoleKit, 'server/accounts/', 'server/audit/'],
      types: composed,
    },
    { folder, may },
  ]),
  {
    folder: 'server/events/',
    files: consoleRoutes,
    may: [...kernel, ...consoleKit, 'server/accounts/', 'server/audit/', 'server/upstream/'],
    types: composed,
  },
  { folder: 'server/events/', may: [...kernel, 'server/audit/', 'server/upstream/'], types: composed },
  {
    folder: 'server/accounts/',
    may: [...kernel, 'server/audit/', 'server/events/', 'server/places/'],
    types: ['server/limits/'],
  },
  { folder: 'server/limits/', may: kernel },
  { folder: 'server/places/', may: ['contract/', 'server/http/special-networks.ts', 'server/lazy-cache.ts'] },
  { folder: 'server/http/', may: ['contract/', 'server/lazy-cache.ts', 'server/setting-parsers.ts'] },
  { folder: 'server/db/', may: ['contract/', 'package.json'] },
  {
    folder: 'server/upstream/',
    may: [
      'contract/',
      'server/http/errors.ts',
      'server/http/special-networks.ts',
      'server/setting-parsers.ts',
    ],
  },
  // The folders that compose the rest (runtime, console, operations, docs) may import all of the server.
  { folder: 'server/', may: ['contract/', 'package.json'] },
]

/** What only some files may import. Without `typesToo`, every file may import its types. */
const restrictedRules = [
  {
    what: ['kysely', 'pg', 'node:sqlite'],
    typesToo: true,
    only: ['server/db/', 'a store'],
    advice: 'put the query into a store.ts',
  },
  {
    what: ['server/db/'],
    typesToo: false,
    only: ['server/db/', 'a store', 'server/runtime/installation.ts', 'server/runtime/settings.ts', 'cli/'],
    advice: 'put the query into a store.ts, or "import type"',
  },
  // Tests check responses against these schemas and a document prints them; the web console and the service need only the types.
  {
    what: ['contract/console/responses/'],
    typesToo: false,
    only: ['contract/console/responses/', 'server/docs/openapi-operator.ts'],
    advice: 'write "import type"',
  },
]

const store = /^server\/(.+\/)?(.+-)?store\.ts$/

/** Tests, benchmarks and tools may import everything. */
const exempt = [/\.test\.tsx?$/, /^(test|bench|tools)\//]

const root = resolve(import.meta.dirname, '..', '..')

const importRules = {
  meta: { type: 'problem', docs: { description: 'Limits which folder may import which' } },
  create(context) {
    const file = fromRoot(context.filename)
    if (exempt.some((pattern) => pattern.test(file))) return {}

    const check = (source, typesOnly) => {
      const specifier = literalOf(source)
      if (specifier === undefined) return
      const isRelative = specifier.startsWith('.')
      const target = isRelative ? fromRoot(resolve(dirname(context.filename), specifier)) : specifier
      const message =
        (isRelative ? folderProblem(file, target, typesOnly) : undefined) ??
        restrictedProblem(file, target, typesOnly)
      if (message !== undefined) context.report({ node: source, message })
    }
    return {
      ImportDeclaration: (node) =>
        check(node.source, isTypesOnly(node.importKind, node.specifiers, 'importKind')),
      ExportNamedDeclaration: (node) => {
        if (node.source) check(node.source, isTypesOnly(node.exportKind, node.specifiers, 'exportKind'))
      },
      ExportAllDeclaration: (node) => check(node.source, node.exportKind === 'type'),
      ImportExpression: (node) => check(node.source, false),
      TSImportType: (node) => check(node.source, true),
    }
  },
}

const noBarrel = {
  meta: { type: 'problem', docs: { description: 'Disallows files that only re-export' } },
  create: (context) => ({
    Program: (node) => {
      const isReExport = (one) =>
        one.type === 'ExportAllDeclaration' ||
        // `export {}` only marks the file as a module.
        (one.type === 'ExportNamedDeclaration' && one.specifiers.length > 0)
      const [first] = node.body.filter(isReExport)
      if (first === undefined) return
      if (!node.body.every((one) => one.type === 'ImportDeclaration' || isReExport(one))) return
      context.report({
        node: first,
        message: 'a barrel file: import each name from the file that defines it',
      })
    },
  }),
}

function folderProblem(file, target, typesOnly) {
  const found = folderRules.find(
    ({ folder, files }) => file.startsWith(folder) && (files === undefined || files.test(file)),
  )
  if (found === undefined) return undefined
  const { folder, may, types = [] } = found
  if (isIn(target, [folder, ...may])) return undefined
  if (!isIn(target, types))
    return `${folder} may import ${['itself', ...may].join(', ')}; ${target} is none of them`
  return typesOnly ? undefined : `${folder} may import only types of ${target}: write "import type"`
}

function restrictedProblem(file, target, typesOnly) {
  for (const { what, typesToo, only, advice } of restrictedRules) {
    if (!isIn(target, what) || (typesOnly && !typesToo)) continue
    if (isIn(file, only) || (only.includes('a store') && store.test(file))) continue
    return `only ${only.join(', ')} may import ${target}: ${advice}`
  }
  return undefined
}

function isIn(path, paths) {
  return paths.some((one) => path === one || path.startsWith(one.endsWith('/') ? one : `${one}/`))
}

function isTypesOnly(kind, specifiers, kindOfSpecifier) {
  return (
    kind === 'type' || (specifiers.length > 0 && specifiers.every((one) => one[kindOfSpecifier] === 'type'))
  )
}

/** The text of a specifier; undefined if it is computed. */
function literalOf(source) {
  if (source.type === 'Literal' && typeof source.value === 'string') return source.value
  if (source.type === 'TemplateLiteral' && source.expressions.length === 0)
    return source.quasis[0].value.cooked
  return undefined
}

function fromRoot(path) {
  return relative(root, path).split(sep).join('/')
}

export default { meta: { name: 'tollgate' }, rules: { 'import-rules': importRules, 'no-barrel': noBarrel } }
