import { repeated } from '../../base/index.ts';
import { type Budget, type CheckedRules, checkRules, NotEvaluated, validateRules } from '../../kubernetes/cel/index.ts';
import { keyCauses } from '../../kubernetes/custom-resources/index.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  type StatusCause,
  textAt,
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
import { readSchema } from './values.ts';

/** Longest list of definitions, in bytes of JSON: etcd's limit for an object, as they are part of a ClusterClass. */
const maxBytes = 1.5 * 1024 * 1024;
/** Longest name of a variable (core v1beta2, CRD of ClusterClasses). */
const maxName = 256;
/** Maximum work for validating defaults, examples and enums: a fifth of a second, more than real ones take. */
const maxWork = 1_000_000;
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

function valuesIn(schema: Schema, path: string): (readonly [Json, string])[] {
  const { example, enum: allowed = [] } = schema as Schema & { example?: Json };
  const values = allowed.flatMap((value, index) =>
    value === null ? [] : [[value, `${path}.enum[${index}]`] as const],
  );
  return example === undefined ? values : [[example, `${path}.example`], ...values];
}

function valueCauses(root: Schema, rootPath: string, { work }: Effort): StatusCause[] {
  const causes: StatusCause[] = [];
  const look = (schema: Schema, path: string): void => {
    const { type = '', additionalProperties, properties } = schema;
    const isOpen =
      schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-int-or-string'] === true;
    if (type === '' ? !isOpen : !types.includes(type)) {
      causes.push(
        type === '' ? required(`${path}.type`, 'type cannot be empty') : notSupported(`${path}.type`, type, types),
      );
      return;
    }
    for (const [value, base] of valuesIn(schema, path)) {
      causes.push(...validateSchema(value, schema, { base, work }));
    }
    if (isJsonObject(additionalProperties) && properties !== undefined) {
      causes.push(forbiddenField(path, 'additionalProperties and properties are mutually exclusive'));
    }
    for (const [part, at] of partsOf(schema as JsonObject, path)) {
      look(part as Schema, at);
    }
  };
  look(root, rootPath);
  return causes;
}

/** The reports of a schema's rules about the defaults, examples and enums of its parts. */
function ruleCauses(root: Schema, rootPath: string, effort: Effort): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [part, path] of everyPart(root as JsonObject, rootPath)) {
    const schema = part as Schema;
    const values = schema['x-kubernetes-validations'] === undefined ? [] : valuesIn(schema, path);
    const preset = schema.default === undefined ? [] : [[schema.default, `${path}.default`] as const];
    for (const [value, at] of [...preset, ...values]) {
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

/** The problems with one schema. Those of a later stage are only looked for if there are none so far, as in Cluster API. */
function checkSchema(raw: JsonObject, path: string, effort: Effort): CheckedRules {
  const schema = readSchema(raw);
  // A structural schema must be that of an object.
  const wrapped = { type: 'object', properties: { variableSchema: schema as JsonObject } };
  const wrapping = `${path}.properties[variableSchema]`;
  const structural = structuralCauses(wrapped, path, effort.work, true).map(({ field = path, message, ...cause }) => ({
    ...cause,
    field: field.replace(wrapping, path),
    message: message.replace(wrapping, path),
  }));
  const causes = structural.length > 0 ? structural : valueCauses(schema, path, effort);
  if (causes.length > 0) {
    return { causes, unknown: [], transitions: [], isComplete: true };
  }
  const rules = checkRules(schema as JsonObject, path, true);
  effort.hasSkipped ||= !rules.isComplete;
  return rules.causes.length > 0 ? rules : { ...rules, causes: ruleCauses(schema, path, effort) };
}

/** Rules of one variable that are not evaluated for its values. */
export interface UnevaluatedRules extends Pick<CheckedRules, 'unknown' | 'transitions'> {
  variable: string;
}

export interface CheckedDefinitions {
  causes: StatusCause[];
  /** Whether everything was checked: what takes too much work is skipped. */
  isComplete: boolean;
  /** For each variable with rules that are only compiled. */
  unevaluated: UnevaluatedRules[];
}

/**
 * Why Cluster API rejects definitions of variables, in its own words: those of a ClusterClass, or of a response of
 * DiscoverVariables. The estimated cost of CEL rules is not checked.
 *
 * @param variables a list of ClusterClassVariable; anything else has no definitions.
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
  const effort: Effort = { work: { left: maxWork }, rules: { leftMs: maxRulesMs }, hasSkipped: false };
  const names = list.map((variable) => textAt(variable, 'name'));
  for (const name of repeated(names, (text) => text)) {
    const why = `variable name must be unique. Variable with name ${JSON.stringify(name)} is defined more than once`;
    causes.push(invalid(`${path}[${shownKey(name)}].name`, name, why));
  }
  for (const variable of list) {
    const { schema, metadata, deprecatedV1Beta1Metadata } = variable;
    const name = textAt(variable, 'name');
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
    causes.push(...allCauses.flat().slice(0, maxCauses));
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
