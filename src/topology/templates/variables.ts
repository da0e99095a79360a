import { bytesOf, quoted, textOf } from '../../base/go-text/index.ts';
import { isJsonObject, type Json, type JsonObject, own } from '../../kubernetes/index.ts';
import { TemplateError } from './budget.ts';
import { parseInt64 } from './values/numbers.ts';

/** Values of a Cluster's variables by name, `builtin` among them. */
export type Variables = Readonly<Record<string, Json>>;

const quotedText = (text: string): string => textOf(quoted(bytesOf(text)));

function fail(message: string): never {
  throw new TemplateError(`failed to calculate value: ${message}`);
}

function segmentOf(text: string, path: string, problem: string): { name: string; index?: number } {
  const open = text.indexOf('[');
  const close = text.indexOf(']');
  const prefix = `variable ${quotedText(path)} ${problem}`;
  if (close < open || (open === -1 && close !== -1)) {
    fail(`${prefix}: failed to parse path segment ${quotedText(text)}`);
  }
  if (open === -1) {
    return { name: text };
  }
  const digits = text.slice(open + 1, close);
  const index = parseInt64(digits, 10);
  if (typeof index === 'string') {
    const why = `strconv.Atoi: parsing ${quotedText(digits)}: ${index}`;
    fail(`${prefix}: failed to parse array index in path segment ${quotedText(text)}: ${why}`);
  }
  if (index < 0n) {
    fail(`${prefix}: invalid array index ${index} in path segment ${quotedText(text)}`);
  }
  return { name: text.slice(0, open), index: Number(index) };
}

function itemAt(value: Json, name: string, index: number, path: string): Json {
  const prefix = `variable ${quotedText(path)} is invalid`;
  if (!Array.isArray(value)) {
    const type = value === null || typeof value === 'boolean' ? String(value) : typeof value;
    fail(`${prefix}: failed to get array ${quotedText(name)}: value doesn't contain array; it contains ${type}`);
  }
  const item = value[index];
  return item === undefined ? fail(`${prefix}: array does not have index ${index}`) : item;
}

/** A field or, as by Cluster API's parser, an item that is named by its index. */
function fieldOf(value: Json, name: string): Json | undefined {
  if (Array.isArray(value)) {
    const index = parseInt64(name, 10);
    return typeof index === 'bigint' && index >= 0n ? value[Number(index)] : undefined;
  }
  return isJsonObject(value) ? own(value, name) : undefined;
}

/**
 * The value of a patch with `valueFrom.variable`, such as `builtin.cluster.name` or `proxies[0].url`.
 *
 * @throws {TemplateError} with Cluster API's message, also if there is no such variable.
 */
export function variableValue(path: string, variables: Variables): Json {
  if (path === '') {
    fail('.valueFrom is set, but neither .valueFrom.variable nor .valueFrom.template are set');
  }
  const segments = path.split('.');
  let value: Json = variables as JsonObject;
  for (const [position, text] of segments.entries()) {
    const { name, index } = segmentOf(text, path, position === 0 ? 'is invalid' : 'has invalid syntax');
    const field = fieldOf(value, name);
    if (field === undefined) {
      const lookup = `${quotedText(path)} does not exist: failed to lookup segment ${quotedText(name)}`;
      fail(`variable ${position === 0 ? `${quotedText(text)} does not exist` : lookup}`);
    }
    if (field === null && position === 0 && (segments.length > 1 || index !== undefined)) {
      // Cluster API has no text of a variable that is null.
      const problem = 'cannot parse JSON: cannot parse empty string; unparsed tail: ""';
      fail(`cannot parse variable ${quotedText(text)}: : ${problem}`);
    }
    value = index === undefined ? field : itemAt(field, name, index, path);
  }
  return value;
}
