import { bytesOf, quoted, textOf } from '../../base/go-text/index.ts';
import { isJsonObject, type Json, own } from '../../kubernetes/index.ts';
import { TemplateError } from './budget.ts';
import { parseInt64 } from './values/numbers.ts';

/** Values of a Cluster's variables by name, `builtin` among them. */
export type Variables = Readonly<Record<string, Json>>;

/** What Cluster API says where a patch names neither a variable nor a template. */
export const neitherIsSet =
  'failed to calculate value: .valueFrom is set, but neither .valueFrom.variable nor .valueFrom.template are set';

interface Segment {
  name: string;
  index?: number;
}

function quotedText(text: string): string {
  return textOf(quoted(bytesOf(text)));
}

function fail(message: string): never {
  throw new TemplateError(`failed to calculate value: ${message}`);
}

function segmentOf(text: string, path: string, problem: string): Segment {
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

function typeName(value: Json): string {
  return Array.isArray(value) ? 'array' : value === null || typeof value === 'boolean' ? String(value) : typeof value;
}

function itemAt(value: Json, { name, index }: Segment & { index: number }, path: string): Json {
  const prefix = `variable ${quotedText(path)} is invalid`;
  if (!Array.isArray(value)) {
    const found = `value doesn't contain array; it contains ${typeName(value)}`;
    fail(`${prefix}: failed to get array ${quotedText(name)}: ${found}`);
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
    throw new TemplateError(neitherIsSet);
  }
  const [first = '', ...rest] = path.split('.');
  const segment = segmentOf(first, path, 'is invalid');
  const variable = own(variables, segment.name);
  if (variable === undefined) {
    fail(`variable ${quotedText(first)} does not exist`);
  }
  let value = variable;
  if (rest.length === 0 && segment.index === undefined) {
    return value;
  }
  if (value === null) {
    // Cluster API has no text of a variable that is null.
    fail(
      `cannot parse variable ${quotedText(first)}: : cannot parse JSON: cannot parse empty string; unparsed tail: ""`,
    );
  }
  if (segment.index !== undefined) {
    value = itemAt(value, { name: segment.name, index: segment.index }, path);
  }
  for (const text of rest) {
    const { name, index } = segmentOf(text, path, 'has invalid syntax');
    const field = fieldOf(value, name);
    if (field === undefined) {
      fail(`variable ${quotedText(path)} does not exist: failed to lookup segment ${quotedText(name)}`);
    }
    value = index === undefined ? field : itemAt(field, { name, index }, path);
  }
  return value;
}
