// The filters above a list: a search box and a select that starts with "all".
import { SearchOutlined } from '@ant-design/icons'
import { Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { useText } from '../frame/i18n.ts'
import { ClearIcon } from './clear-icon.tsx'
import { partsText } from './text.ts'

interface SearchFilterProps {
  readonly label: string
  readonly value: string
  readonly width: number
  readonly onSearch: (text: string) => void
}

export function SearchFilter({ label, value, width, onSearch }: SearchFilterProps): ReactNode {
  const t = useText(partsText)
  const [text, setText] = useState(value)
  const [searched, setSearched] = useState(value)
  // The value has changed from outside, for example with the way back.
  if (searched !== value) {
    setSearched(value)
    setText(value)
  }
  return (
    <Input.Search
      allowClear={{ clearIcon: <ClearIcon /> }}
      searchIcon={<SearchOutlined aria-label={t.search} />}
      style={{ width, maxWidth: '100%' }}
      placeholder={label}
      aria-label={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onSearch={(typed) => onSearch(typed.trim())}
    />
  )
}

interface SelectFilterProps<Value extends string> {
  readonly label: string
  readonly allLabel: string
  /** Empty for all. */
  readonly value: string
  readonly values: readonly Value[]
  readonly nameOf: (value: Value) => string
  readonly onChange: (value: string) => void
}

export function SelectFilter<Value extends string>(props: SelectFilterProps<Value>): ReactNode {
  const { label, allLabel, value, values, nameOf, onChange } = props
  return (
    <Select<string>
      aria-label={label}
      style={{ minWidth: 130 }}
      value={value}
      onChange={onChange}
      options={[
        { value: '', label: allLabel },
        ...values.map((option) => ({ value: option, label: nameOf(option) })),
      ]}
    />
  )
}
