import { type ASTNode, Environment, type TypeCheckResult } from '@marcbachmann/cel-js';
import { fieldErrorMessage, type StatusCause } from '../objects/errors/status.ts';
import { asGoWrites, type Json, type JsonObject, objectsAt } from '../objects/json/json.ts';
import { perObject } from '../objects/per-object.ts';
import { fieldOf, invalid, notSupported, partsOf, required, type Schema } from '../schema/index.ts';
import { celName, decisionProblem } from './cel.ts';
import { partsOf as nodesBelow } from './cost.ts';

/** A rule over the values that a schema describes (x-kubernetes-validations of apiextensions.k8s.io/v1). */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
  /** Instead of the expression, for rules that this program knows: whether it holds for a value. */
  holds?: (value: Json) => boolean;
}

export const ruleReasons = [
  'FieldValueInvalid',
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueRequired',
] as const;

interface PlacedRule {
  rule: ValidationRule;
  path: string;
  schema: JsonObject;
  list: string | undefined;
}

function rulesIn(schema: JsonObject, path: string): PlacedRule[] {
  const rules: PlacedRule[] = [];
  const look = (part: JsonObject, at: string, list: string | undefined): void => {
    for (const [index, rule] of objectsAt(part, 'x-kubernetes-validations').entries()) {
      const placed = { path: `${at}.x-kubernetes-validations[${index}]`, schema: part, list };
      rules.push({ rule: rule as unknown as ValidationRule, ...placed });
    }
    for (const [inner, innerAt, kind] of partsOf(part, at)) {
      look(inner, innerAt, list ?? (kind === 'array items' ? innerAt : undefined));
    }
  };
  look(schema, path, undefined);
  return rules;
}

/** Whether a rule uses the variable `oldSelf` (a transition rule); one that cannot be parsed, whether it has the word. */
export function isTransition(rule: string, environment: Pick<Environment, 'parse'>): boolean {
  if (!/\boldSelf\b/.test(rule)) {
    return false;
  }
  const nodes: ASTNode[] = [];
  try {
    nodes.push(environment.parse(rule).ast);
  } catch {
    return true;
  }
  for (const node of nodes) {
    if (node.op === 'id' && node.args === 'oldSelf') {
      return true;
    }
    nodes.push(...nodesBelow(node));
  }
  return false;
}

type Declared = string | { [field: string]: Declared };

const scalars: Record<string, string> = { boolean: 'bool', integer: 'int', number: 'double', string: 'string' };

/** How many more fields may be declared: each declaration takes some microseconds. */
interface Declarations {
  left: number;
}

/** The type of the values that a schema describes, in as much detail as the library can express it. */
function declaredOf(schema: Schema, declarations: Declarations): Declared {
  declarations.left--;
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-int-or-string'] === true;
  // Texts of these formats are of other types in expressions.
  const isOther = ['byte', 'date', 'date-time', 'duration'].includes(schema.format ?? '');
  if (declarations.left < 0 || isOpen || isOther) {
    return 'dyn';
  }
  const inner = (part: Schema): string => {
    const declared = declaredOf(part, declarations);
    return typeof declared === 'string' ? declared : 'dyn';
  };
  switch (schema.type) {
    case 'array':
      return `list<${schema.items === undefined ? 'dyn' : inner(schema.items)}>`;
    case 'object': {
      const { properties = {}, additionalProperties } = schema;
      return typeof additionalProperties === 'object'
        ? `map<string, ${inner(additionalProperties)}>`
        : Object.fromEntries(
            Object.entries(properties).map(([name, part]) => [celName(name), declaredOf(part, declarations)]),
          );
    }
    default:
      return scalars[schema.type ?? ''] ?? 'dyn';
  }
}

export function untypedEnvironment(): Environment {
  return new Environment({ enableOptionalTypes: true })
    .registerVariable('self', 'dyn')
    .registerVariable('oldSelf', 'dyn');
}

/** Finds unknown fields and wrong types in expressions about the values of a schema, as far as declarations are left. */
function typedEnvironment(schema: Schema, declarations: Declarations): Environment {
  const declared = declaredOf(schema, declarations);
  const environment = new Environment({ enableOptionalTypes: true });
  if (typeof declared === 'string') {
    return environment.registerVariable('self', declared).registerVariable('oldSelf', declared);
  }
  // Both of the same type, so that they can be compared: the library names the type of a schema after its variable.
  return environment.registerVariable('self', { schema: declared }).registerVariable('oldSelf', '$self');
}

const maxMessage = 2048;

/** Namespaces of functions that Kubernetes has and this engine does not. */
const unknownNamespaces = ['format', 'ip', 'lists', 'math', 'optional', 'sets', 'strings'];
const unknownVariable = 'Unknown variable: ';
/** Macros that take one variable here, and also two in Kubernetes: the first one is unknown here. */
const firstOfTwo = /\.(?:all|exists|existsOne|exists_one|transformList|transformMap|transformMapEntry)\(\s*(\w+)\s*,/g;
/** Kubernetes compares objects with others of their type and with null; the library has no operator for them. */
const comparedObjects = /^no such overload: (\S*\$self\S*) [!=]= (?:null|\1)$/;

/** Maximum number of fields that are declared for all rules of a schema: a quarter of a second. */
const maxDeclarations = 50_000;

const hasLineBreak = (text: string) => text.includes('\n') || text.includes('\r');
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const step = /\.([^.[\]']+)|\['([^']+)'\]/y;

function fieldPathProblem(path: string, schema: Schema): string | undefined {
  let at: Schema | undefined = schema;
  step.lastIndex = 0;
  for (let end = 0; end < path.length; end = step.lastIndex) {
    const match = step.exec(path);
    if (match === null) {
      return "expects .NAME or ['NAME'] for each step";
    }
    at = fieldOf(at, match[1] ?? match[2] ?? '');
    if (at === undefined) {
      return 'does not refer to a valid field';
    }
  }
  return undefined;
}

function* textCauses({ rule: fields, path, schema }: PlacedRule): Generator<StatusCause> {
  const { rule, message, messageExpression, reason, fieldPath } = fields;
  const shown = isText(message) ? message.trim() : '';
  if (typeof rule !== 'string' || rule.trim() === '') {
    yield required(`${path}.rule`, 'rule is not specified');
  } else if (isText(message) && shown === '') {
    yield invalid(`${path}.message`, message, 'message must be non-empty if specified');
  } else if (isText(message) && message.length > maxMessage) {
    const why = `message must have a maximum length of ${maxMessage} characters`;
    yield invalid(`${path}.message`, `${message.slice(0, 10)}...`, why);
  } else if (hasLineBreak(shown)) {
    yield invalid(`${path}.message`, message, 'message must not contain line breaks');
  } else if (hasLineBreak(rule.trim()) && shown === '') {
    yield required(`${path}.message`, 'message must be specified if rule contains line breaks');
  }
  if (isText(messageExpression) && messageExpression.trim() === '') {
    yield required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified');
  }
  if (isText(reason) && !ruleReasons.some((known) => known === reason)) {
    yield notSupported(`${path}.reason`, reason, [...ruleReasons].sort());
  }
  const problem = isText(fieldPath) ? fieldPathProblem(fieldPath, schema as Schema) : undefined;
  if (problem !== undefined) {
    yield invalid(`${path}.fieldPath`, fieldPath, `fieldPath must be a valid path: ${problem}`);
  }
}

function isUnknown({ error }: TypeCheckResult, expression: string): boolean {
  const { code, summary = '' } = error ?? {};
  if (summary.startsWith(unknownVariable)) {
    const name = summary.slice(unknownVariable.length);
    return (
      unknownNamespaces.includes(name) || [...expression.matchAll(firstOfTwo)].some(([, variable]) => variable === name)
    );
  }
  return code === 'no_matching_overload' || comparedObjects.test(summary);
}

function messageProblem(checked: TypeCheckResult): string | undefined {
  if (!checked.valid) {
    return `messageExpression ${decisionProblem(checked)}`;
  }
  return ['string', 'dyn'].includes(checked.type ?? '') ? undefined : 'messageExpression must evaluate to a string';
}

/** How Go's CEL library words problems that the one here words otherwise, by their codes. */
const goWords: Readonly<Record<string, (summary: string) => string>> = {
  no_such_key: (summary) => summary.replace(/^No such key: (.*)$/, "undefined field '$1'"),
  unknown_variable: (summary) =>
    summary.replace(/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')"),
};

/** Why an expression cannot be compiled, as Go's CEL library shows it: with its line, and the place in it. */
function compilationProblem(expression: string, { error }: TypeCheckResult): string {
  const { code = '', summary = 'unknown error', range = { start: 0 } } = error ?? {};
  // The place of a field is its dot.
  const start = code === 'no_such_key' && expression[range.start - 1] === '.' ? range.start - 1 : range.start;
  const lines = expression.slice(0, start).split('\n');
  const column = [...(lines.at(-1) ?? '')].length;
  const line = expression.split('\n')[lines.length - 1] ?? '';
  const text = goWords[code]?.(summary) ?? summary;
  return `ERROR: <input>:${lines.length}:${column + 1}: ${text}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

function shownRule({ rule, message = '', messageExpression = '', reason, fieldPath = '' }: ValidationRule): string {
  const Reason = reason ?? 'FieldValueInvalid';
  return asGoWrites(
    JSON.stringify({
      ...{ Rule: rule, Message: message, MessageExpression: messageExpression, Reason, FieldPath: fieldPath },
      OptionalOldSelf: null,
    }),
  );
}

export interface CheckedRules {
  causes: StatusCause[];
  /** Valid rules that this engine cannot evaluate, each with the reason; and messages, but for those of a variable. */
  unknown: string[];
  /** The fields of rules that are evaluated only when there is an old value. */
  transitions: string[];
  /** Whether all types were known: beyond a maximum of declared fields, a rule fits any value. */
  isComplete: boolean;
}

/**
 * Why a rule of a schema cannot be compiled, and which valid rules are not evaluated.
 *
 * @param isVariable as Cluster API checks variables: `self` has the type of the schema, and `oldSelf` is unknown in items of
 *   lists, which are atomic. Otherwise `self` may be anything: resources have fields that schemas do not name.
 */
export function checkRules(schema: JsonObject, path: string, isVariable = false): CheckedRules {
  const declarations: Declarations = { left: maxDeclarations };
  const result: CheckedRules = { causes: [], unknown: [], transitions: [], isComplete: true };
  const { causes, unknown, transitions } = result;
  const rules = rulesIn(schema, path);
  const untyped = untypedEnvironment();
  const typedFor = perObject((part: JsonObject) => typedEnvironment(part as Schema, declarations));
  for (const placed of rules) {
    const { rule: fields, path: at, schema: part, list } = placed;
    const wrong = [...textCauses(placed)];
    causes.push(...wrong);
    if (wrong.length > 0) {
      continue;
    }
    const environment = isVariable ? typedFor(part) : untyped;
    const check = (expression: string, field: string, problemOf: (checked: TypeCheckResult) => string | undefined) => {
      const checked = environment.check(expression);
      const problem = isUnknown(checked, expression) ? undefined : problemOf(checked);
      if (problem !== undefined && isVariable) {
        const why = problem.replace(/(?<=compilation failed: )[\s\S]*$/, () => compilationProblem(expression, checked));
        const message = fieldErrorMessage('FieldValueInvalid', shownRule(fields), why);
        causes.push({ reason: 'FieldValueInvalid', message, field });
      } else if (problem !== undefined) {
        causes.push(invalid(field, expression, problem));
      } else if (!checked.valid && !(isVariable && (problemOf === messageProblem || untyped.check(expression).valid))) {
        // Values are of any type when rules are evaluated, so that some can be which the types here do not allow. Of a
        // variable, the rule's text replaces a message.
        unknown.push(`${field} is not evaluated here: ${checked.error?.summary}`);
      }
    };
    const { rule, messageExpression } = fields;
    const field = `${at}.rule`;
    check(rule, field, decisionProblem);
    const needsOld = isTransition(rule, untyped);
    if (needsOld && fields.optionalOldSelf !== true) {
      transitions.push(field);
    }
    if (isVariable && list !== undefined && needsOld) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${list}`;
      causes.push(invalid(field, rule, why));
    }
    if (isText(messageExpression)) {
      check(messageExpression, `${at}.messageExpression`, messageProblem);
    }
  }
  return { ...result, isComplete: declarations.left >= 0 };
}
