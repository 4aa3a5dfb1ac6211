// npm's `prepare`: builds the console. Without the development dependencies there is nothing to build with, and that is fine.
const vite = await import('vite').catch(() => undefined)

if (vite === undefined) {
  console.log('控制台未构建：缺少开发依赖 / console not built: no development dependencies')
} else {
  await vite.build({ logLevel: 'warn' })
}
