// The antd theme: one accent colour and corrections for contrast. Colours are defined only here.
import { theme, type ThemeConfig } from 'antd'

const accent = '#3b5bdb'

const motion = !window.matchMedia('(prefers-reduced-motion: reduce)').matches

export function consoleTheme(dark: boolean): ThemeConfig {
  // Text needs a lighter accent on dark backgrounds than buttons do.
  const accentText = dark ? '#91a7ff' : accent
  const ink = dark ? '255,255,255' : '0,0,0'
  return {
    algorithm: dark ? theme.darkAlgorithm : theme.defaultAlgorithm,
    // A fixed key, so that console.css can use the variables.
    cssVar: { key: 'tollgate' },
    hashed: false,
    token: {
      motion,
      colorPrimary: accent,
      colorInfo: accent,
      // The colours antd derives for these have less than AA contrast.
      colorPrimaryHover: dark ? '#4263eb' : '#364fc7',
      colorLink: accentText,
      colorLinkHover: dark ? '#bac8ff' : '#364fc7',
      colorSuccessText: dark ? '#69db7c' : '#237a34',
      colorWarningText: dark ? '#ffd43b' : '#8a5a00',
      colorErrorText: dark ? '#ff8787' : '#c92a2a',
      colorError: dark ? '#e03131' : '#d6293a',
      colorTextSecondary: `rgba(${ink},0.72)`,
      colorTextTertiary: `rgba(${ink},0.62)`,
      colorTextDescription: `rgba(${ink},0.62)`,
      colorTextPlaceholder: `rgba(${ink},0.55)`,
      colorBgLayout: dark ? '#0e1014' : '#f5f6f8',
      colorBgContainer: dark ? '#17191f' : '#ffffff',
      colorBgElevated: dark ? '#1e2128' : '#ffffff',
      borderRadius: 8,
      fontFamily: `system-ui, -apple-system, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif`,
      fontFamilyCode: `ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace`,
    },
    components: {
      Button: {
        defaultHoverColor: accentText,
        defaultHoverBorderColor: accentText,
        ...(dark ? { colorError: '#ff8787', dangerColor: '#17191f' } : {}),
      },
      // The same padding in every card.
      Card: {
        bodyPadding: 16,
        bodyPaddingSM: 16,
        headerPadding: 16,
        headerPaddingSM: 16,
        headerHeight: 46,
        headerHeightSM: 46,
        headerFontSize: 14,
        headerFontSizeSM: 14,
      },
      Dropdown: { colorPrimary: accentText },
      ...(dark ? { Form: { colorError: '#ff8787' } } : {}),
      Pagination: { itemActiveColor: accentText, itemActiveColorHover: accentText, colorPrimary: accentText },
      Table: { cellPaddingBlockMD: 10 },
      Tabs: {
        itemSelectedColor: accentText,
        itemHoverColor: accentText,
        itemActiveColor: accentText,
        inkBarColor: accentText,
      },
    },
  }
}

/** Colours of chart series, distinguishable with red-green colour blindness. */
export const seriesColours: Readonly<Record<'light' | 'dark', readonly string[]>> = {
  light: ['#3b5bdb', '#0c8599', '#e8890c', '#9c36b5', '#868e96', '#d6293a'],
  dark: ['#748ffc', '#3bc9db', '#ffc078', '#da77f2', '#adb5bd', '#ff8787'],
}
