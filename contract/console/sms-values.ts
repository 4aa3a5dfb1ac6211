// Schemas of the states and types of templates and signatures.
import { Type } from 'typebox'
import { signatureTypes, templateStates, templateTypes } from '../sms-text.ts'

export const templateState = Type.Enum([...templateStates])
export const templateType = Type.Enum([...templateTypes])
export const signatureType = Type.Enum([...signatureTypes])
