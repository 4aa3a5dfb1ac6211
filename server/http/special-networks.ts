// Networks that are not part of the public Internet.

/** Special-purpose IPv4 ranges of RFC 6890 and its successors. */
export const specialNetworks: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  // Shared address space; Aliyun's metadata service is in it.
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local, including the metadata services of most clouds.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
