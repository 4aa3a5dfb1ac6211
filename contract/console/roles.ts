// The roles of operators.
export const operatorRoles = ['owner', 'finance', 'support', 'auditor'] as const

export type OperatorRole = (typeof operatorRoles)[number]
