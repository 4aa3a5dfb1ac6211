// Redirect rules of links: where a visit leads, by properties of the visitor.

/** What a rule can compare a visit with. Lists of values are complete; the others are given by their pattern, and countries and provinces must exist (`places.ts`). */
export const ruleConditions = {
  os: { values: ['ios', 'android', 'harmony', 'windows', 'macos', 'linux'] },
  device: { values: ['mobile', 'tablet', 'desktop'] },
  app: { values: ['wechat', 'qq', 'douyin', 'weibo', 'alipay', 'dingtalk', 'feishu'] },
  country: { pattern: '^[A-Z]{2}$' },
  province: { pattern: '^[A-Z]{2}$' },
  language: { pattern: '^[a-z]{2}$' },
} as const

export type RuleCondition = keyof typeof ruleConditions

export interface LinkRule {
  readonly when: Readonly<Partial<Record<RuleCondition, string | readonly string[]>>>
  readonly target_url: string
}

/** JSON Schema of a rule, given the one of a target. */
export function ruleSchema(target: object) {
  return {
    type: 'object',
    properties: {
      when: {
        type: 'object',
        properties: Object.fromEntries(
          Object.keys(ruleConditions).map((name) => [
            name,
            { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }] },
          ]),
        ),
        additionalProperties: false,
        minProperties: 1,
      },
      target_url: target,
    },
    required: ['when', 'target_url'],
  }
}
