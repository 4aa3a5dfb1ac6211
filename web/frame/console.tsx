// The root component: theme, language, query client, router.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { ConfigProvider } from 'antd'
import enUS from 'antd/locale/en_US'
import zhCN from 'antd/locale/zh_CN'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { createQueryClient } from '../api/hooks.ts'
import { createConsoleRouter } from '../router.tsx'
import { useDark } from './preferences.ts'
import { useLanguage } from './i18n.ts'
import { consoleTheme } from './theme.ts'

export function Console(): ReactNode {
  const dark = useDark()
  const language = useLanguage()
  const [client] = useState(createQueryClient)
  const [router] = useState(createConsoleRouter)
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
    <ConfigProvider
      theme={theme}
      locale={language === 'zh' ? zhCN : enUS}
      button={{ autoInsertSpace: false }}
    >
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </ConfigProvider>
  )
}
