// What `npm run release` checks in the files of the repository: versions and the changelog.

/** Where the version is written, besides package.json. The first group of each pattern is the version. */
const versionPlaces: readonly (readonly [string, RegExp])[] = [
  ['package-lock.json', /^\{\n {2}"name": "tollgate",\n {2}"version": "([^"]+)"/],
  ['sdk/node/package.json', /"version": "([^"]+)"/],
  ['sdk/php/src/Transport.php', /'tollgate-php\/([^']+)'/],
  ['sdk/python/pyproject.toml', /^version = "([^"]+)"/m],
  ['sdk/python/src/tollgate/__init__.py', /^__version__ = "([^"]+)"/m],
  ['sdk/python/src/tollgate/transport.py', /"tollgate-python\/([^"]+)"/],
  ['sdk/java/pom.xml', /<artifactId>tollgate-sdk<\/artifactId>\s*<version>([^<]+)</],
  ['sdk/java/README.md', /<artifactId>tollgate-sdk<\/artifactId>\s*<version>([^<]+)</],
  ['sdk/java/src/main/java/io/tollgate/Transport.java', /"tollgate-java\/([^"]+)"/],
  ['sdk/go/client.go', /^const Version = "([^"]+)"/m],
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

/** The newest section of the changelog must be the released version, with its date. */
export function findChangelogProblems(changelog: string, version: string): string[] {
  const heading = /^## (.+)$/m.exec(changelog)?.[1] ?? 'none'
  return heading.startsWith(`${version} (`) && /\(\d{4}-\d{2}-\d{2}\)$/.test(heading)
    ? []
    : [`the newest heading of CHANGELOG.md is "${heading}", expected "${version} (YYYY-MM-DD)"`]
}
