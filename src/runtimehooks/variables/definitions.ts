import { type Budget, type CheckedRules, checkRules, NotEvaluated, validateRules } from '../../kubernetes/cel/index.ts';
import { keyCauses } from '../../kubernetes/custom-resources/index.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  type StatusCause,
} from '../../kubernetes/index.ts';
import {
  causeOf,
  everyPart,
  forbiddenField,
  invalid,
  maxCauses,
  notSupported,
  partsOf,
  required,
  type Schema,
  shownKey,
  structuralCauses,
  validateSchema,
  type Work,
} from '../../kubernetes/schema/index.ts';
import { readSchema } from './read-schema.ts';

/**
 * Longest list of definitions, in bytes of JSON: etcd's limit for an object, since they are all part of a ClusterClass.
 */
const maxBytes = 1.5 * 1024 * 1024;
/** Longest name of a variable (core v1beta2, CRD of ClusterClasses). */
const maxName = 256;
/** Maximum work for validating defaults, examples and enums: a fifth of a second, more than real ones take. */
const maxWork = 1_000_000;
/** How long rules may be evaluated for defaults, examples and enums, in ms. */
const maxRulesMs = 2_000;

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

interface Effort {
  work: Work;
  rules: Budget;
  /** Whether a rule was not evaluated for a value, or not checked for its types, because of the limits. */
  hasSkipped: boolean;
}

function nameCauses(name: string, field: string): StatusCause[] {
  if (name === '') {
    return [required(field, 'variable name must be defined')];
  }
  if (name.length > maxName) {
    return [causeOf('FieldValueTooLong', field, undefined, `may not be more than ${maxName} bytes`)];
  }
  return [
    ...(name === 'builtin' ? [invalid(field, name, '"builtin" is a reserved variable name')] : []),
    ...(name.includes('.') ? [invalid(field, name, 'variable name cannot contain "."')] : []),
  ];
}

/** Checks types, examples and enums in all parts of a structural schema. */
function valueCauses(schema: Schema, path: string, effort: Effort): StatusCause[] {
  const { type = '', example, enum: allowed = [] } = schema as Schema & { example?: Json };
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-int-or-string'] === true;
  if (type === '' && !isOpen) {
    return [required(`${path}.type`, 'type cannot be empty')];
  }
  if (type !== '' && !types.includes(type)) {
    return [notSupported(`${path}.type`, type, types)];
  }
  const causes =
    example === undefined ? [] : validateSchema(example, schema, { base: `${path}.example`, work: effort.work });
  for (const [index, value] of allowed.entries()) {
    if (value !== null) {
      causes.push(...validateSchema(value, schema, { base: `${path}.enum[${index}]`, work: effort.work }));
    }
  }
  if (isJsonObject(schema.additionalProperties) && schema.properties !== undefined) {
    causes.push(forbiddenField(path, 'additionalProperties and properties are mutually exclusive'));
  }
  for (const [part, at] of partsOf(schema as JsonObject, path)) {
    for (const cause of valueCauses(part as Schema, at, effort)) {
      causes.push(cause);
    }
  }
  return causes;
}

/** The reports of a schema's rules about the defaults, examples and enums of its parts. */
function ruleCauses(root: Schema, rootPath: string, effort: Effort): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [part, path] of everyPart(root as JsonObject, rootPath)) {
    const schema = part as Schema & { example?: Json };
    const { default: preset, example, enum: allowed = [] } = schema;
    const hasOwn = schema['x-kubernetes-validations'] !== undefined;
    const values: [Json | undefined, string][] = [
      [preset, `${path}.default`],
      ...(hasOwn ? [[example, `${path}.example`] satisfies [Json | undefined, string]] : []),
      ...(hasOwn ? allowed.map((value, index): [Json, string] => [value, `${path}.enum[${index}]`]) : []),
    ];
    for (const [value, at] of values) {
      if (value === undefined) {
        continue;
      }
      try {
        causes.push(...validateRules(value, undefined, schema, { path: at, budget: effort.rules }));
      } catch (error) {
        if (!(error instanceof NotEvaluated)) {
          throw error;
        }
        effort.hasSkipped = true;
      }
    }
  }
  return causes;
}

/** What is checked of a schema that has other problems than those of its rules. */
const noRules: CheckedRules = { causes: [], unknown: [], unknownMessages: [], transitions: [], isComplete: true };

/**
 * The problems with one schema. Those of a later stage are only looked for if there are none so far, as in Cluster API.
 */
function checkSchema(raw: JsonObject, path: string, effort: Effort): CheckedRules {
  const schema = readSchema(raw);
  // A structural schema must be that of an object.
  const wrapped = { type: 'object', properties: { variableSchema: schema as JsonObject } };
  const wrapping = `${path}.properties[variableSchema]`;
  const structural = structuralCauses(wrapped, path, effort.work, true)
    .slice(0, maxCauses)
    .map(({ field = path, message, ...cause }) => ({
      ...cause,
      field: field.replace(wrapping, path),
      message: message.replace(wrapping, path),
    }));
  if (structural.length > 0) {
    return { ...noRules, causes: structural };
  }
  const values = valueCauses(schema, path, effort);
  if (values.length > 0) {
    return { ...noRules, causes: values };
  }
  const rules = checkRules(schema as JsonObject, path, true);
  effort.hasSkipped ||= !rules.isComplete;
  return rules.causes.length > 0 ? rules : { ...rules, causes: ruleCauses(schema, path, effort) };
}

/** Rules of one variable that are not evaluated for its values. */
export interface UnevaluatedRules {
  variable: string;
  /** Rules with functions that only Kubernetes has, each with the reason. */
  unknown: readonly string[];
  /** Rules that compare a value with the one before. */
  transitions: readonly string[];
}

/** The result of a check of definitions. */
export interface CheckedDefinitions {
  causes: StatusCause[];
  /**
   * Whether everything was checked: schemas that take too much work are skipped, as are those after them, and so are
   * values whose rules take too much.
   */
  isComplete: boolean;
  /** For each variable with rules that are only compiled. */
  unevaluated: UnevaluatedRules[];
}

/**
 * Why Cluster API rejects definitions of variables, in its own words: those of a ClusterClass, or of a response of
 * DiscoverVariables, which its ClusterClass controller checks in the same way. The estimated cost of CEL rules is not
 * checked.
 *
 * @param variables a list of ClusterClassVariable; anything else has no definitions.
 * @param path of the list.
 */
export function checkDefinitions(variables: Json | undefined, path: string): CheckedDefinitions {
  const list = objectsAt(variables);
  const bytes = list.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(list));
  if (bytes > maxBytes) {
    const why = `the definitions have ${bytes} bytes; more than ${maxBytes} do not fit into the status of a ClusterClass`;
    return { causes: [forbiddenField(path, why)], isComplete: true, unevaluated: [] };
  }
  const causes: StatusCause[] = [];
  const unevaluated: UnevaluatedRules[] = [];
  const names = new Set<string>();
  const effort: Effort = {
    work: { left: maxWork },
    rules: { leftMs: maxRulesMs },
    hasSkipped: false,
  };
  const nameOf = ({ name }: JsonObject) => (typeof name === 'string' ? name : '');
  for (const name of list.map(nameOf)) {
    if (names.has(name)) {
      const why = `variable name must be unique. Variable with name ${JSON.stringify(name)} is defined more than once`;
      causes.push(invalid(`${path}[${shownKey(name)}].name`, name, why));
    }
    names.add(name);
  }
  for (const variable of list) {
    const { schema, metadata, deprecatedV1Beta1Metadata } = variable;
    const name = nameOf(variable);
    const at = `${path}[${shownKey(name)}]`;
    const root = objectAt(schema, 'openAPIV3Schema');
    const rootPath = `${at}.schema.openAPIV3Schema`;
    const { causes: ofSchema, unknown, transitions } = checkSchema(root, rootPath, effort);
    if (unknown.length + transitions.length > 0) {
      unevaluated.push({ variable: name, unknown, transitions });
    }
    const allCauses = [
      nameCauses(name, `${at}.name`),
      [...keyCauses(objectAt(metadata), `${at}.metadata`)],
      [...keyCauses(objectAt(deprecatedV1Beta1Metadata), `${at}.deprecatedV1Beta1Metadata`)],
      [...everyPart(root, rootPath)].flatMap(([part, at]) => [
        ...keyCauses(objectAt(part, 'x-metadata'), `${at}.x-metadata`),
      ]),
      // What these would report is our limit, not Cluster API's.
      effort.work.endedAt !== undefined ? [] : ofSchema,
    ];
    for (const cause of allCauses.flat()) {
      causes.push(cause);
    }
    if (effort.work.endedAt !== undefined || causes.length > maxCauses) {
      break;
    }
  }
  return {
    causes: causes.slice(0, maxCauses),
    isComplete: effort.work.endedAt === undefined && !effort.hasSkipped,
    unevaluated,
  };
}
