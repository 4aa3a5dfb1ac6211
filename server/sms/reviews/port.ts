// The port to a vendor that reviews signatures and templates itself: submit one, and query its state.
import type { SignatureType, TemplateType } from '../../../contract/sms-text.ts'
import { oneLine } from '../../../contract/values.ts'

export interface SubmittedSignature {
  readonly signName: string
  readonly type: SignatureType
  readonly note: string
  /** Base64, oldest first. PDF files are not images. */
  readonly images: readonly string[]
}

export interface SubmittedTemplate {
  readonly name: string
  readonly type: TemplateType
  readonly content: string
  readonly variables: readonly string[]
  /** The signature that the template is used with. */
  readonly signName: string
}

/** `refused`: the vendor did not take it. `later`: proven not submitted. `unknown`: it may have been submitted. */
export type Submitted =
  | { readonly kind: 'submitted'; readonly vendorId: string }
  | { readonly kind: 'refused' | 'later' | 'unknown'; readonly reason: string }

/** `reason` is the vendor's text. */
export interface VendorState {
  readonly state: 'reviewing' | 'approved' | 'refused'
  readonly reason: string
}

export interface VendorReviews {
  readonly name: string
  submitSignature(signature: SubmittedSignature): Promise<Submitted>
  submitTemplate(template: SubmittedTemplate): Promise<Submitted>
  /** Undefined: the query failed, ask later. */
  querySignature(vendorId: string, signal?: AbortSignal): Promise<VendorState | undefined>
  queryTemplate(vendorId: string, signal?: AbortSignal): Promise<VendorState | undefined>
}

const maxReason = 200

/** A text of a vendor, in one line and cut. */
export function vendorText(...parts: readonly unknown[]): string {
  const text = parts.filter((part) => typeof part === 'string' && part !== '').join(' ')
  return oneLine(text.toWellFormed()).slice(0, maxReason)
}
