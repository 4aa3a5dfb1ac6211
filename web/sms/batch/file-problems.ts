// What a file of recipients consists of, and what can be wrong with it.

export interface Row {
  /** As the spreadsheet or text editor counts, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** A cell or the row was cut because it is too long. */
  readonly isCut: boolean
}

/** `merged`: only the first cell of a merged range has a value. `formulas`: the values that were saved with the file are used. */
export type FileNotice = 'merged' | 'formulas' | 'hidden' | 'sheets'

export interface Table {
  readonly rows: readonly Row[]
  readonly format: 'UTF-8' | 'UTF-16' | 'GBK' | 'XLSX'
  readonly notices: readonly FileNotice[]
}

export type FileProblem =
  | 'size'
  | 'rows'
  | 'empty'
  | 'oldFormat'
  | 'notTable'
  | 'encoding'
  | 'damaged'
  | 'unpackedSize'
  | 'noSheet'

export class BadFile extends Error {
  readonly problem: FileProblem

  constructor(problem: FileProblem) {
    super(problem)
    this.name = 'BadFile'
    this.problem = problem
  }
}
