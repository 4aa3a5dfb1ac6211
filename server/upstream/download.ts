// Downloads a file of a provider into memory: limited in time and size, no redirects.

export type Download =
  | { readonly kind: 'file'; readonly bytes: Buffer }
  | { readonly kind: 'failed'; readonly reason: string }

export interface DownloadLimits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** Never rejects. `reason` is a fixed word: addresses of files contain tokens. */
export async function download(
  url: string,
  headers: Readonly<Record<string, string>>,
  { timeoutMs, maxBytes }: DownloadLimits,
): Promise<Download> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, { headers, redirect: 'error', signal })
    if (response.status !== 200) {
      await response.body?.cancel()
      return { kind: 'failed', reason: `http_${response.status}` }
    }
    const chunks: Uint8Array[] = []
    let size = 0
    const body: AsyncIterable<Uint8Array> | [] = response.body ?? []
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxBytes) return { kind: 'failed', reason: 'too_large' }
      chunks.push(chunk)
    }
    return { kind: 'file', bytes: Buffer.concat(chunks) }
  } catch {
    return { kind: 'failed', reason: signal.aborted ? 'timeout' : 'download_failed' }
  }
}
