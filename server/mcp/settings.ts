// Settings of the MCP endpoint.
import { choice, setting } from '../setting-parsers.ts'

export const mcpSettings = {
  MCP: setting(choice('off', 'on'), 'off', {
    zh: 'on：在 /mcp 提供 MCP（Model Context Protocol）接口，AI 助手可以用 API 密钥调用全部操作',
    en: 'on: serves MCP (Model Context Protocol) on /mcp, so that AI assistants can call every operation with an API key',
  }),
} as const
