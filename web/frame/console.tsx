// The root component: theme, language, query client, router.
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { ConfigProvider } from 'antd'
import { type ReactNode, useEffect, useMemo } from 'react'
import type { createConsoleRouter } from '../router.tsx'
import { useDark } from './preferences.ts'
import { useLanguage } from './i18n.ts'
import { consoleTheme } from './theme.ts'

interface ConsoleProps {
  readonly client: QueryClient
  readonly router: ReturnType<typeof createConsoleRouter>
}

export function Console({ client, router }: ConsoleProps): ReactNode {
  const dark = useDark()
  const language = useLanguage()
  const theme = useMemo(() => consoleTheme(dark), [dark])
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  }, [language])
  useEffect(() => {
    document.documentElement.style.colorScheme = dark ? 'dark' : 'light'
    // The theme's CSS variables are scoped to this class; dialogs are children of the body.
    document.body.classList.add('tollgate')
  }, [dark])
  return (
    <ConfigProvider theme={theme} button={{ autoInsertSpace: false }}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </ConfigProvider>
  )
}
