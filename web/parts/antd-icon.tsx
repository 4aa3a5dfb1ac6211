// Replaces the component that draws the icons of antd, which announces the name of the drawing ("plus") to screen readers (see
// vite.config.ts). Icons stand beside their meaning, so they are hidden, unless one has a name of its own.
import AntdIcon from '@ant-design/icons/es/components/AntdIconLight'
import type { ComponentProps, ReactNode } from 'react'

// oxlint-disable-next-line import/no-default-export -- the icons import the default
export default function Icon(props: ComponentProps<typeof AntdIcon>): ReactNode {
  const isNamed = props['aria-label'] !== undefined
  return (
    <AntdIcon
      {...(isNamed ? {} : { role: undefined, 'aria-label': undefined, 'aria-hidden': true })}
      {...props}
    />
  )
}
