// A new group: template, signature and file, which column is what, check and price, then sending.
import { DownloadOutlined, UploadOutlined } from '@ant-design/icons'
import { Alert, Button, Card, Form, Select, Upload } from 'antd'
import { type ReactNode, useState } from 'react'
import type { Signatures, Template } from '../../../contract/console/responses/sms.ts'
import { formatCsv } from '../../../contract/csv.ts'
import { maxBatchMessages, recipientFileLimits } from '../../../contract/sms-text.ts'
import { useText } from '../../frame/i18n.ts'
import { download } from '../../parts/download.ts'
import { formatCount } from '../../parts/format.tsx'
import { CheckedCard } from './checked-card.tsx'
import { BadFile, type FileProblem, type Table } from './file-problems.ts'
import { type ColumnChoice, type RecipientColumns, guessColumns, splitHeadings } from './recipients.ts'
import { readTable } from './table.ts'
import { type BatchText, batchText } from './text.ts'

interface NewGroupProps {
  readonly templates: readonly Template[]
  readonly signatures: Signatures
}

interface OpenFile {
  readonly name: string
  readonly table: Table
  readonly columns: RecipientColumns
}

export function NewGroup({ templates, signatures }: NewGroupProps): ReactNode {
  const t = useText(batchText)
  const [code, setCode] = useState(templates[0]!.code)
  const template = templates.find((one) => one.code === code) ?? templates[0]!
  const [signName, setSignName] = useState('')
  const [file, setFile] = useState<OpenFile>()
  const [problem, setProblem] = useState<FileProblem>()
  const [isReading, setReading] = useState(false)
  const [choice, setChoice] = useState<ColumnChoice>({ phone: undefined, variables: {} })
  // A new key forgets what was checked for other inputs.
  const [group, setGroup] = useState(0)

  const approved = signatures.items.filter(({ state }) => state === '审核通过')
  const defaultSign =
    signatures.items.find(({ is_default: isDefault }) => isDefault)?.sign_name ??
    signatures.platform_sign_name
  const change = (next: ColumnChoice) => {
    setChoice(next)
    setGroup((number) => number + 1)
  }
  const open = async (chosen: File) => {
    setReading(true)
    setProblem(undefined)
    setFile(undefined)
    try {
      const table = await readTable(chosen)
      const columns = splitHeadings(table)
      setFile({ name: chosen.name, table, columns })
      change(guessColumns(columns, template.variables))
    } catch (error) {
      setProblem(error instanceof BadFile ? error.problem : 'damaged')
    } finally {
      setReading(false)
    }
  }
  const saveSample = () => {
    const rows = [
      [t.phone, ...template.variables],
      ['13800138000', ...template.variables.map((name) => `${name}1`)],
    ]
    download(`sms-${template.code}.csv`, new Blob([formatCsv(rows)], { type: 'text/csv;charset=utf-8' }))
  }
  const isMapped =
    choice.phone !== undefined && template.variables.every((name) => choice.variables[name] !== undefined)

  return (
    <Card size="small" title={<h2>{t.newGroup}</h2>}>
      <div className="stack">
        <span className="muted prose">
          {t.lead(formatCount(recipientFileLimits.rows), formatCount(maxBatchMessages))}
        </span>
        <Form layout="vertical" className="field-pairs">
          <Form.Item label={t.template} htmlFor="group-template">
            <Select
              id="group-template"
              showSearch={{ optionFilterProp: 'label' }}
              value={template.code}
              options={templates.map(({ code: value, name }) => ({ value, label: `${name} (${value})` }))}
              onChange={(value) => {
                setCode(value)
                const next = templates.find((one) => one.code === value)
                if (file && next) change(guessColumns(file.columns, next.variables))
              }}
            />
          </Form.Item>
          <Form.Item label={t.signature} htmlFor="group-signature">
            <Select
              id="group-signature"
              value={signName}
              options={[
                { value: '', label: t.defaultSignature(defaultSign) },
                ...approved
                  .filter(({ sign_name }) => sign_name !== defaultSign)
                  .map(({ sign_name }) => ({ value: sign_name, label: sign_name })),
              ]}
              onChange={(value) => {
                setSignName(value)
                setGroup((number) => number + 1)
              }}
            />
          </Form.Item>
        </Form>
        <div className="row">
          <Upload
            accept=".csv,.txt,.xlsx,text/csv"
            showUploadList={false}
            beforeUpload={(chosen) => {
              void open(chosen)
              return false
            }}
          >
            <Button type={file ? 'default' : 'primary'} icon={<UploadOutlined />} loading={isReading}>
              {file ? t.otherFile : t.chooseFile}
            </Button>
          </Upload>
          <Button icon={<DownloadOutlined />} onClick={saveSample}>
            {t.sample}
          </Button>
          <span className="muted" aria-live="polite">
            {isReading ? t.reading : file && describeFile(file, t.fileRead)}
          </span>
        </div>
        {problem && <Alert type="error" showIcon role="alert" title={fileProblemText(problem, t)} />}
        {file?.table.notices.map((notice) => (
          <Alert key={notice} type="warning" showIcon title={t[notice]} />
        ))}
        {file && (
          <Mapping columns={file.columns} variables={template.variables} choice={choice} onChange={change} />
        )}
        {file && !isMapped && <span className="muted">{t.mapAll}</span>}
        {file && isMapped && (
          <CheckedCard
            key={`${template.code} ${group}`}
            template={template}
            frame={{ template_code: template.code, ...(signName === '' ? {} : { sign_name: signName }) }}
            sign={signName || defaultSign}
            columns={file.columns}
            choice={choice}
            onDone={() => setFile(undefined)}
          />
        )}
      </div>
    </Card>
  )
}

function describeFile(
  { name, table, columns }: OpenFile,
  text: (name: string, format: string, rows: string) => string,
): string {
  return text(name, table.format, formatCount(columns.rows.length))
}

function fileProblemText(problem: FileProblem, t: BatchText): string {
  const texts: Readonly<Record<FileProblem, string>> = {
    size: t.fileSize(recipientFileLimits.bytes / 1_048_576),
    rows: t.fileRows(formatCount(recipientFileLimits.rows)),
    empty: t.fileEmpty,
    oldFormat: t.fileOldFormat,
    notTable: t.fileNotTable,
    encoding: t.fileEncoding,
    damaged: t.fileDamaged,
    unpackedSize: t.fileUnpackedSize,
    noSheet: t.fileNoSheet,
  }
  return texts[problem]
}

interface MappingProps {
  readonly columns: RecipientColumns
  readonly variables: readonly string[]
  readonly choice: ColumnChoice
  readonly onChange: (choice: ColumnChoice) => void
}

function Mapping({ columns, variables, choice, onChange }: MappingProps): ReactNode {
  const t = useText(batchText)
  const sample = columns.rows[0]?.cells ?? []
  const options = Array.from({ length: columns.count }, (_one, index) => {
    const name = columns.headings[index] || t.column(columnName(index))
    const example = (sample[index] ?? '').slice(0, 20)
    return { value: index, label: example === '' ? name : t.columnExample(name, example) }
  })
  const field = (id: string, label: string, value: number | undefined, set: (index: number) => void) => (
    <Form.Item key={id} label={label} htmlFor={id} style={{ marginBottom: 8 }}>
      <Select
        id={id}
        placeholder={t.chooseColumn}
        {...(value === undefined ? {} : { value })}
        options={options}
        onChange={set}
      />
    </Form.Item>
  )
  return (
    <Form layout="vertical" className="field-grid" aria-label={t.mapping}>
      {field('group-phone', t.phoneColumn, choice.phone, (phone) => onChange({ ...choice, phone }))}
      {variables.map((name) =>
        field(`group-variable-${name}`, t.variableColumn(name), choice.variables[name], (index) =>
          onChange({ ...choice, variables: { ...choice.variables, [name]: index } }),
        ),
      )}
    </Form>
  )
}

/** A, B, …, Z, AA, … as spreadsheets name them. */
function columnName(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : columnName(Math.floor(index / 26) - 1) + last
}
