// Who may import whom, as lint rules. The tables say it; below them stands only how they are read.
import { dirname, relative, resolve, sep } from 'node:path'

const products = ['shortlink', 'sms', 'identity', 'domain-check']

/**
 * `folder` may import itself, and of the rest of the tree only what `may` names: folders end in a slash, else it is
 * one file. What `types` names may be imported with `import type` only. The first folder that holds a file decides.
 */
const folderRules = [
  { folder: 'contract/', may: [] },
  { folder: 'web/', may: ['contract/'] },
  { folder: 'sdk/', may: ['contract/'] },
  { folder: 'cli/', may: ['contract/', 'server/'] },
  ...products.flatMap((product) => [
    {
      folder: `server/${product}/gateways/`,
      may: ['contract/', `server/${product}/port.ts`, 'server/upstream/'],
    },
    {
      folder: `server/${product}/`,
      may: [
        'contract/',
        'server/accounts/',
        'server/credits/',
        'server/http/',
        'server/db/',
        'server/upstream/',
      ],
      types: ['server/config.ts', 'server/services.ts'],
    },
  ]),
  { folder: 'server/credits/', may: ['contract/', 'server/http/', 'server/db/', 'server/accounts/'] },
  { folder: 'server/accounts/', may: ['contract/', 'server/http/', 'server/db/'] },
  { folder: 'server/limits/', may: ['server/http/', 'server/db/'] },
  { folder: 'server/http/', may: ['contract/'] },
  { folder: 'server/db/', may: ['contract/'] },
  { folder: 'server/upstream/', may: ['contract/', 'server/http/errors.ts'] },
  // Whatever composes the rest (app, main, console, operations): all of the server, but not its users.
  { folder: 'server/', may: ['contract/', 'package.json'] },
]

/** Everyone may name the database's types; only these may hold the thing itself. */
const databaseRules = [
  { what: ['kysely', 'pg', 'node:sqlite'], typesToo: true, only: ['server/db/', 'a store'] },
  {
    what: ['server/db/'],
    typesToo: false,
    only: ['server/db/', 'a store', 'server/installation.ts', 'cli/'],
  },
]

const store = /^server\/(.+\/)?(.+-)?store\.ts$/

/** Tests reach wherever they must, benchmarks and tools too. */
const exempt = [/\.test\.tsx?$/, /^(test|bench|tools)\//]

const root = resolve(import.meta.dirname, '..', '..')

const importRules = {
  meta: { type: 'problem', docs: { description: 'Keeps the rooms of the tree apart' } },
  create(context) {
    const file = fromRoot(context.filename)
    if (exempt.some((pattern) => pattern.test(file))) return {}

    const check = (source, typesOnly) => {
      const wanted = literalOf(source)
      if (wanted === undefined) return
      const isOurs = wanted.startsWith('.')
      const target = isOurs ? fromRoot(resolve(dirname(context.filename), wanted)) : wanted
      const message =
        (isOurs ? folderProblem(file, target, typesOnly) : undefined) ??
        databaseProblem(file, target, typesOnly)
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
  meta: { type: 'problem', docs: { description: 'No file only passes on what others export' } },
  create: (context) => ({
    Program: (node) => {
      const passesOn = (one) =>
        one.type === 'ExportAllDeclaration' ||
        // `export {}` only says "I am a module".
        (one.type === 'ExportNamedDeclaration' && one.specifiers.length > 0)
      const [first] = node.body.filter(passesOn)
      if (first === undefined) return
      if (!node.body.every((one) => one.type === 'ImportDeclaration' || passesOn(one))) return
      context.report({ node: first, message: 'a barrel: import each thing from the file that makes it' })
    },
  }),
}

function folderProblem(file, target, typesOnly) {
  const found = folderRules.find(({ folder }) => file.startsWith(folder))
  if (found === undefined) return undefined
  const { folder, may, types = [] } = found
  if (isIn(target, [folder, ...may])) return undefined
  if (!isIn(target, types))
    return `${folder} may import ${['itself', ...may].join(', ')}; ${target} is none of them`
  return typesOnly ? undefined : `${folder} may import only types of ${target}: write "import type"`
}

function databaseProblem(file, target, typesOnly) {
  for (const { what, typesToo, only } of databaseRules) {
    if (!isIn(target, what) || (typesOnly && !typesToo)) continue
    if (isIn(file, only) || (only.includes('a store') && store.test(file))) continue
    const way = typesToo ? '' : ', or "import type"'
    return `only ${only.join(', ')} may import ${target}: put the query into a store.ts${way}`
  }
  return undefined
}

function isIn(path, places) {
  return places.some((place) => path === place || path.startsWith(place.endsWith('/') ? place : `${place}/`))
}

function isTypesOnly(kind, specifiers, kindOfSpecifier) {
  return (
    kind === 'type' || (specifiers.length > 0 && specifiers.every((one) => one[kindOfSpecifier] === 'type'))
  )
}

/** The text of a specifier; a computed one stays unknown. */
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
