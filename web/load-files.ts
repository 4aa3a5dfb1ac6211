// Loads the files of a page or a dialog before they are imported. Browsers remember a failed import: importing the same file fails
// from then on, even when the connection is restored. A failed request can be repeated.

/** What is loaded or being loaded, by path. */
const requests = new Map<string, Promise<void>>()

/** The build calls it for every `import()`, with the file and those that it imports (tools/console-chunks.ts). */
export async function importWithFiles<Module>(
  load: () => Promise<Module>,
  files: readonly string[] = [],
): Promise<Module> {
  await Promise.all(files.map((file) => loadOnce(import.meta.env.BASE_URL + file)))
  return load()
}

async function loadOnce(path: string): Promise<void> {
  let request = requests.get(path)
  if (request === undefined) {
    // index.html preloads the files of the first page.
    request = document.querySelector(`link[href="${path}"]`) ? Promise.resolve() : loadFile(path)
    requests.set(path, request)
    request.catch(() => requests.delete(path))
  }
  return request
}

/** Into the cache of the browser. */
async function loadFile(path: string): Promise<void> {
  const response = await fetch(path)
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
}
