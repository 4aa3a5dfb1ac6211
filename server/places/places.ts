// Country and province of an address: from the package ip2region, or from the files that replace its data.
import { createRequire } from 'node:module'
import { createLazyCache } from '../lazy-cache.ts'
import { addressBytes, hasPlace, plainAddress } from './addresses.ts'
import { countryCode, type Place, placeOf, provinceCode, readRegion, unknownPlace } from './regions.ts'
import { loadXdb, readXdbVersion, type Xdb } from './xdb.ts'

export interface PlaceFiles {
  /** xdb files; undefined for the data of the package. */
  readonly v4: string | undefined
  readonly v6: string | undefined
}

export type Locate = (address: string) => Place

/** A few megabytes; at any time most visits come from few addresses. */
const maxCached = 20_000

/** The data is loaded with the first look-up: most processes and threads never need it. */
export function createLocator(files: PlaceFiles): Locate {
  let find: Locate | undefined
  const cache = createLazyCache<string, Place>({
    max: maxCached,
    memoMethod: (address) => (find ??= openPlaces(files))(address),
  })
  return (address) => cache().memo(address)
}

interface PackageResult {
  readonly country: string
  readonly province: string
}

/** The part of the package that is used; its own types need a newer module format than ours. */
interface PackageModule {
  readonly default: new () => { search(address: string): PackageResult | null }
}

/** One for all locators of the process: the data of the package takes about 20 MB. */
let searcher: InstanceType<PackageModule['default']> | undefined

function findInPackage(address: string): Place {
  searcher ??= loadPackage()
  const found = searcher?.search(address)
  return found ? placeOf(countryCode(found.country), provinceCode(found.province)) : unknownPlace
}

/** Undefined while its files are being replaced: a visit counts without a place, and is not lost. */
function loadPackage(): InstanceType<PackageModule['default']> | undefined {
  try {
    return new (createRequire(import.meta.url)('ip2region') as PackageModule).default()
  } catch {
    return undefined
  }
}

function openPlaces(files: PlaceFiles): Locate {
  const v4 = openFile(files.v4)
  const v6 = openFile(files.v6)
  return (text) => {
    const address = plainAddress(text)
    if (address === undefined || !hasPlace(address)) return unknownPlace
    const file = address.version === 4 ? v4 : v6
    return file ? readRegion(file.find(addressBytes(address))) : findInPackage(address.text)
  }
}

function openFile(path: string | undefined): Xdb | undefined {
  return path === undefined ? undefined : loadXdb(path)
}

/** The problem of a file of the settings in one phrase; undefined when it can be used. */
export function placeFileProblem(path: string, version: 4 | 6): string | undefined {
  try {
    const found = readXdbVersion(path)
    return found === version ? undefined : `是 IPv${found} 的数据 / has data of IPv${found}`
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : ''
    return `无法读取 / cannot be read: ${reason}`
  }
}
