// The redirect rules of a link: conditions, targets and their order.
import { ArrowDownOutlined, ArrowUpOutlined, CloseOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Input, Select } from 'antd'
import type { ReactNode } from 'react'
import type { RuleCondition } from '../../contract/link-rules.ts'
import { linkLimits } from '../../contract/shortlink.ts'
import { useLanguage, usePick, useText } from '../frame/i18n.ts'
import { builderText } from './builder-text.ts'
import { conditionNames, type RuleValues } from './link-form.ts'
import { conditionTexts, valueNames } from './rule-names.ts'
import { targetLimits } from './target-field.tsx'

interface RulesEditorProps {
  /** Set by the form. */
  readonly value?: readonly RuleValues[]
  readonly onChange?: (rules: readonly RuleValues[]) => void
}

const newRule: RuleValues = { conditions: [{ name: 'os', values: [] }], target_url: '' }

export function RulesEditor({ value: rules = [], onChange = () => {} }: RulesEditorProps): ReactNode {
  const t = useText(builderText)
  const replace = (index: number, rule: RuleValues) => onChange(rules.with(index, rule))
  const move = (index: number, by: -1 | 1) => {
    const moved = [...rules]
    moved.splice(index + by, 0, ...moved.splice(index, 1))
    onChange(moved)
  }
  return (
    <div className="stack-8">
      <ol className="rules">
        {rules.map((rule, index) => (
          // Rules have no id, and their fields keep no state of their own.
          <li key={index} aria-label={t.ruleNumber(index + 1)}>
            <div className="row-between">
              <strong>{t.ruleNumber(index + 1)}</strong>
              <span>
                <IconButton
                  label={t.up}
                  icon={<ArrowUpOutlined />}
                  disabled={index === 0}
                  onClick={() => move(index, -1)}
                />
                <IconButton
                  label={t.down}
                  icon={<ArrowDownOutlined />}
                  disabled={index === rules.length - 1}
                  onClick={() => move(index, 1)}
                />
                <IconButton
                  label={t.remove}
                  icon={<CloseOutlined />}
                  onClick={() => onChange(rules.toSpliced(index, 1))}
                />
              </span>
            </div>
            <Conditions rule={rule} onChange={(changed) => replace(index, changed)} />
            <Input
              type="url"
              inputMode="url"
              aria-label={t.ruleTarget}
              placeholder={`${t.ruleTarget} https://…`}
              maxLength={targetLimits.maxLength}
              value={rule.target_url}
              onChange={(event) => replace(index, { ...rule, target_url: event.target.value })}
            />
          </li>
        ))}
      </ol>
      {rules.length < linkLimits.rules && (
        <Button icon={<PlusOutlined />} onClick={() => onChange([...rules, newRule])}>
          {t.addRule}
        </Button>
      )}
    </div>
  )
}

interface ConditionsProps {
  readonly rule: RuleValues
  readonly onChange: (rule: RuleValues) => void
}

function Conditions({ rule, onChange }: ConditionsProps): ReactNode {
  const t = useText(builderText)
  const pick = usePick()
  const { conditions } = rule
  const used = new Set(conditions.map(({ name }) => name))
  const unused = conditionNames.filter((name) => !used.has(name))
  const change = (list: RuleValues['conditions']) => onChange({ ...rule, conditions: list })
  return (
    <>
      {conditions.map(({ name, values }, index) => (
        <div key={name} className="rule-condition">
          <Select<RuleCondition>
            aria-label={t.condition}
            value={name}
            onChange={(next) => change(conditions.with(index, { name: next, values: [] }))}
            options={conditionNames
              .filter((one) => one === name || !used.has(one))
              .map((one) => ({ value: one, label: pick(conditionTexts[one]) }))}
          />
          <Values
            name={name}
            values={values}
            onChange={(next) => change(conditions.with(index, { name, values: next }))}
          />
          {conditions.length > 1 && (
            <IconButton
              label={t.removeCondition}
              icon={<CloseOutlined />}
              onClick={() => change(conditions.toSpliced(index, 1))}
            />
          )}
        </div>
      ))}
      {unused.length > 0 && (
        <div>
          <Button
            size="small"
            type="link"
            style={{ paddingInline: 0 }}
            onClick={() => change([...conditions, { name: unused[0]!, values: [] }])}
          >
            {t.addCondition}
          </Button>
        </div>
      )}
    </>
  )
}

interface ValuesProps {
  readonly name: RuleCondition
  readonly values: readonly string[]
  readonly onChange: (values: readonly string[]) => void
}

function Values({ name, values, onChange }: ValuesProps): ReactNode {
  const t = useText(builderText)
  const pick = usePick()
  const language = useLanguage()
  return (
    <Select<string[]>
      mode="multiple"
      aria-label={`${pick(conditionTexts[name])} ${t.values}`}
      placeholder={t.anyOf}
      maxCount={linkLimits.ruleValues}
      value={[...values]}
      onChange={onChange}
      showSearch={{ optionFilterProp: 'label' }}
      options={[...valueNames(name, language)].map(([value, label]) => ({
        value,
        label: name === 'country' || name === 'province' || name === 'language' ? `${label} ${value}` : label,
      }))}
    />
  )
}

interface IconButtonProps {
  readonly label: string
  readonly icon: ReactNode
  readonly disabled?: boolean
  readonly onClick: () => void
}

function IconButton({ label, ...props }: IconButtonProps): ReactNode {
  return <Button type="text" size="small" aria-label={label} title={label} {...props} />
}
