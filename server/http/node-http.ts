// The part of node:http that starts servers.
//
// An `import` from node:http reads every property of the module, which loads Node's clients of fetch and WebSocket: about 3 MB
// of memory that the service would never use.
export const { createServer } = process.getBuiltinModule('node:http')
