import type { Budget } from '../budget.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { decodeJson, encodeJson } from '../values/json.ts';
import type { Operand, Value } from '../values/values.ts';
import { define, defineAny, ignoring } from './define.ts';

function pretty(value: Value, budget: Budget): string {
  return encodeJson(value, budget, { indent: '  ' });
}

const raw = define(['any'], ([value], budget) => encodeJson(value, budget, { escapesHtml: false }));

/** Functions of sprig for JSON. */
export const jsonFunctions: Readonly<Record<string, TemplateFunction>> = {
  toJson: define(['any'], ([value], budget) => ignoring('', () => encodeJson(value, budget))),
  mustToJson: define(['any'], ([value], budget) => encodeJson(value, budget)),
  toPrettyJson: define(['any'], ([value], budget) => ignoring('', () => pretty(value, budget))),
  mustToPrettyJson: define(['any'], ([value], budget) => pretty(value, budget)),
  toRawJson: raw,
  mustToRawJson: raw,
  fromJson: defineAny(['string'], ([text], budget) => ignoring<Operand | null>(null, () => decodeJson(text, budget))),
  mustFromJson: defineAny(['string'], ([text], budget) => decodeJson(text, budget)),
};
