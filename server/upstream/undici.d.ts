// The types of the two files of undici that the service loads. Its main file loads a hundred more (fetch, WebSocket, caches, mocks),
// which take 7 MB of memory.
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici'
  export default buildConnector
}
