// What `npm run release` checks: versions, the changelog, the metadata of the clients, and the tags of HEAD.

/** Where the version is written, besides package.json. The first group of each pattern is the version. */
const versionPlaces: readonly (readonly [string, RegExp])[] = [
  ['package-lock.json', /^\{\n {2}"name": "tollgate",\n {2}"version": "([^"]+)"/],
  ['sdk/node/package.json', /"version": "([^"]+)"/],
  ['sdk/node/src/transport.ts', /'tollgate-node\/([^']+)'/],
  ['sdk/php/src/Transport.php', /'tollgate-php\/([^']+)'/],
  ['sdk/python/pyproject.toml', /^version = "([^"]+)"/m],
  ['sdk/python/src/tollgate/__init__.py', /^__version__ = "([^"]+)"/m],
  ['sdk/python/src/tollgate/transport.py', /"tollgate-python\/([^"]+)"/],
  ['sdk/java/pom.xml', /<artifactId>tollgate-sdk<\/artifactId>\s*<version>([^<]+)</],
  ['sdk/java/README.md', /<artifactId>tollgate-sdk<\/artifactId>\s*<version>([^<]+)</],
  ['sdk/java/src/main/java/io/tollgate/Transport.java', /"tollgate-java\/([^"]+)"/],
  ['sdk/go/client.go', /^const Version = "([^"]+)"/m],
  ['sdk/go/README.md', /tollgate\/sdk@v(\S+)/],
  ...['node', 'php', 'python', 'java', 'go'].map(
    (folder) => [`sdk/${folder}/README.md`, /\/docs\/clients\/tollgate-\w+-(\S+)\.tar\.gz/] as const,
  ),
  ['docs/operations.md', /ln -sfn releases\/(\S+)/],
  ['docs/operations.en.md', /ln -sfn releases\/(\S+)/],
]

/** Where a package index reads the repository of a client. The first group of each pattern is its address. */
const repositoryPlaces: readonly (readonly [string, RegExp])[] = [
  ['sdk/node/package.json', /"url": "git\+(https:[^"]+)\.git"/],
  ['sdk/php/composer.json', /"homepage": "([^"]+)"/],
  ['sdk/python/pyproject.toml', /^Source = "([^"]+)"/m],
  ['sdk/java/pom.xml', /^ {2}<url>([^<]+)<\/url>/m],
]

export type ReadText = (path: string) => string

/** What differs between the files of the repository and the version in package.json. */
export function findVersionProblems(read: ReadText): string[] {
  const { version, optionalDependencies = {} } = JSON.parse(read('package.json')) as {
    version: string
    optionalDependencies?: Readonly<Record<string, string>>
  }
  const problems = versionPlaces.flatMap(([path, pattern]) => {
    const found = pattern.exec(read(path))?.[1]
    return found === version ? [] : [`${path} has version ${found ?? 'none'}, package.json has ${version}`]
  })
  const [node] = new Set(Object.values(optionalDependencies))
  const image = /^FROM node:([\d.]+)-/m.exec(read('deploy/Dockerfile'))?.[1]
  if (image !== node) problems.push(`deploy/Dockerfile uses Node ${image}, package.json ${node}`)
  return problems
}

/**
 * The clients name the public repository of package.json, and none if it names none: an address that nobody serves, or that
 * belongs to somebody else, must not be in a package.
 */
export function findRepositoryProblems(read: ReadText): string[] {
  const { repository } = JSON.parse(read('package.json')) as { repository?: string }
  const problems = repositoryPlaces.flatMap(([path, pattern]) => {
    const address = pattern.exec(read(path))?.[1]
    return address === repository
      ? []
      : [`${path} names the repository ${address ?? 'none'}, package.json ${repository ?? 'none'}`]
  })
  const [, module = ''] = /^module (\S+)/.exec(read('sdk/go/go.mod')) ?? []
  const isPublic = module.split('/')[0]!.includes('.')
  if (isPublic !== (repository !== undefined))
    problems.push(
      `sdk/go/go.mod has the module ${module}, package.json the repository ${repository ?? 'none'}`,
    )
  return problems
}

/** The newest section of the changelog must be the released version, with its date. An empty "Unreleased" may precede it. */
export function findChangelogProblems(changelog: string, version: string): string[] {
  const [, ...sections] = changelog.split(/^## /m)
  const [newest = 'none', next = 'none'] = sections
  const isUnreleased = /^Unreleased\s*$/m.test(newest.split('\n')[0]!)
  if (isUnreleased && newest.split('\n').slice(1).join('').trim() !== '')
    return [`CHANGELOG.md has entries under "Unreleased": move them to "${version} (YYYY-MM-DD)"`]
  const heading = (isUnreleased ? next : newest).split('\n')[0]!.trim()
  return heading.startsWith(`${version} (`) && /\(\d{4}-\d{2}-\d{2}\)$/.test(heading)
    ? []
    : [`the newest heading of CHANGELOG.md is "${heading}", expected "${version} (YYYY-MM-DD)"`]
}

/** Tags of versions at the checked-out commit must name the version of package.json. */
export function findTagProblems(tagsOfHead: readonly string[], version: string): string[] {
  return tagsOfHead
    .filter((tag) => /^v\d/.test(tag) && tag !== `v${version}`)
    .map((tag) => `HEAD has the tag ${tag}, but package.json has version ${version}`)
}
