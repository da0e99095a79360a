import type { Json } from '../../kubernetes/index.ts';
import { Budget, FunctionError, TemplateError } from './budget.ts';
import { evaluateTemplate } from './evaluate.ts';
import { functions } from './functions/index.ts';
import { type ParsedTemplate, parseTemplate } from './language/parse.ts';
import { type Bytes, bytesOf, quoted, textOf } from './values/bytes.ts';
import { decodeJson, valueOfJson } from './values/json.ts';
import { Dict, type Value } from './values/values.ts';

/** The exact text of a variable, where it counts: 1.50 as a variable stays 1.50, and the last of two equal keys wins. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Values of a Cluster's variables by name, `builtin` among them. */
export type Variables = Readonly<Record<string, Json | JsonText>>;

/** What Go calls the template. */
const name = 'tpl';

/** Passes an error on with what was tried, as Go wraps them. */
function wrapping<T>(context: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TemplateError || error instanceof FunctionError) {
      throw new TemplateError(`${context}: ${error.message}`);
    }
    throw error;
  }
}

function dataOf(variables: Variables, budget: Budget): Value {
  const entries = new Map<Bytes, Value>();
  for (const [key, value] of Object.entries(variables)) {
    entries.set(bytesOf(key), value instanceof JsonText ? decodeJson(bytesOf(value.text), budget) : valueOfJson(value));
  }
  return new Dict(entries);
}

function render(text: Bytes, template: ParsedTemplate, variables: Variables): Bytes {
  const budget = new Budget();
  const data = wrapping(
    'failed to calculate template data: failed to convert variables: failed to unmarshal variables',
    () => dataOf(variables, budget),
  );
  return wrapping(`failed to render template: ${quoted(text)}`, () =>
    evaluateTemplate(template, name, functions, data, budget),
  );
}

export function debugRender(source: string, variables: Variables): string {
  const text = bytesOf(source);
  try {
    const template = wrapping(`failed to parse template: ${quoted(text)}`, () =>
      parseTemplate(text, name, (one) => functions.has(one)),
    );
    return textOf(render(text, template, variables));
  } catch (error) {
    if (error instanceof TemplateError) throw new TemplateError(textOf(error.message));
    throw error;
  }
}
