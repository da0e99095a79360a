import type { Schema } from '../../kubernetes/schema/index.ts';
import type { DirectedTable } from './change-table.ts';
import { type Field, kindOf, namesakesIn, type Property, propertiesOf } from './fields.ts';
import { canCheck, tightened } from './limits.ts';
import type { PropertyAction, ValuePlan } from './plan.ts';
import { isBelow, joinPath, schemaAt, tokensOf } from './schema-path.ts';

/** One version of a message. */
export interface VersionSchema {
  apiVersion: string;
  schema: Schema;
}

/** The state of compiling a direction: the input, and the findings so far. */
interface Compilation {
  from: VersionSchema;
  to: VersionSchema;
  table: DirectedTable;
  problems: string[];
}

const notConverted: readonly string[] = ['apiVersion', 'kind'];

/**
 * The limits to check, if the other version has tighter ones and values beyond them are to be dropped. A difference that
 * the table does not list is a problem.
 */
function limitsFor({ from, to, table, problems }: Compilation, source: Field, target: Field) {
  const keywords = tightened(source.schema, target.schema);
  if (keywords.length === 0) {
    return undefined;
  }
  const { path } = source;
  const treatment = table.treatmentOf(path, target.path);
  if (treatment === undefined) {
    problems.push(`${path}: ${to.apiVersion} limits ${keywords.join(', ')} where ${from.apiVersion} does not`);
    return undefined;
  }
  if (treatment === 'pass') {
    return undefined;
  }
  if (/[\]}]$/.test(path) || !keywords.every(canCheck)) {
    problems.push(`${path}: only a property can be dropped, and not for ${keywords.join(', ')}`);
    return undefined;
  }
  return target.schema;
}

/** Finds the properties that only the other version requires. */
function checkRequired({ from, to, table, problems }: Compilation, source: Field, target: Field): void {
  const required = new Set((source.schema.required ?? []).map((name) => joinPath(source.path, name).toLowerCase()));
  for (const name of target.schema.required ?? []) {
    const toPath = joinPath(target.path, name);
    const path = table.sourceOf(toPath) ?? joinPath(source.path, name);
    if (required.has(path.toLowerCase()) || table.isWrittenByHand(toPath)) {
      continue;
    }
    if (table.treatmentOf(path, toPath) !== 'pass') {
      problems.push(`${toPath}: required in ${to.apiVersion}, not in ${from.apiVersion}`);
    }
  }
}

/** The action for a field that moves, which must stay within `scope`. */
function moveAction(
  compilation: Compilation,
  source: Field,
  toPath: string,
  scope: string,
): PropertyAction | undefined {
  const { to, problems } = compilation;
  const { path } = source;
  const schema = schemaAt(to.schema, toPath);
  if (schema === undefined) {
    problems.push(`${path}: moves to ${toPath}, which ${to.apiVersion} does not have`);
    return undefined;
  }
  const isInside = scope === '' || isBelow(toPath, scope);
  const steps = tokensOf(toPath.slice(scope.length));
  if (!isInside || steps.some((step) => step === '[]' || step === '{}')) {
    problems.push(
      `${path}: moves to ${toPath}, outside its list or in another one; only a hand-written step can do that`,
    );
    return undefined;
  }
  const target = { path: toPath, schema };
  const limits = limitsFor(compilation, source, target);
  return { do: 'move', to: steps, plan: valuePlan(compilation, source, target, scope), limits };
}

/** The actions for nested fields that move elsewhere from a property that is dropped. */
function actionsBelow(
  compilation: Compilation,
  source: Field,
  isListed: boolean,
  scope: string,
): Map<string, PropertyAction> {
  const { from, table, problems } = compilation;
  const actions = new Map<string, PropertyAction>();
  for (const [name, property] of propertiesOf(source)) {
    const { path } = property;
    const isPropertyListed = table.isRemoved(path) || isListed;
    const toPath = table.targetOf(path);
    if (toPath !== undefined) {
      const action = moveAction(compilation, property, toPath, scope);
      if (action !== undefined) {
        actions.set(name, action);
      }
    } else if (table.isReadByHand(path)) {
      actions.set(name, { do: 'skip' });
    } else if (table.hasMoveBelow(path)) {
      actions.set(name, { do: 'drop', below: actionsBelow(compilation, property, isPropertyListed, scope) });
    } else if (!isPropertyListed) {
      problems.push(`${path}: only ${from.apiVersion} has it`);
    }
  }
  return actions;
}

/**
 * The action for a property of an object, undefined if it is copied; `namesake` is the property of the same name that
 * it becomes.
 */
function actionFor(
  compilation: Compilation,
  source: Property,
  namesake: Property | undefined,
  scope: string,
): PropertyAction | undefined {
  const { from, table, problems } = compilation;
  const { name, path } = source;
  const toPath = table.targetOf(path);
  if (toPath !== undefined) {
    return moveAction(compilation, source, toPath, scope);
  }
  if (table.isReadByHand(path)) {
    return { do: 'skip' };
  }
  const isListed = table.isRemoved(path);
  if (isListed || namesake === undefined) {
    if (!isListed && !table.hasMoveBelow(path)) {
      problems.push(`${path}: only ${from.apiVersion} has it`);
      return undefined;
    }
    return { do: 'drop', below: actionsBelow(compilation, source, isListed, scope) };
  }
  const limits = limitsFor(compilation, source, namesake);
  const plan = valuePlan(compilation, source, namesake, scope);
  const isCopied = namesake.name === name && plan === undefined && limits === undefined;
  return isCopied ? undefined : { do: 'set', name: namesake.name, plan, limits };
}

function objectPlan(compilation: Compilation, source: Field, target: Field, scope: string): ValuePlan | undefined {
  checkRequired(compilation, source, target);
  const properties = propertiesOf(source);
  const namesakeOf = namesakesIn(propertiesOf(target), properties, compilation.table);
  const actions = new Map<string, PropertyAction>();
  for (const [name, property] of properties) {
    if (source.path === '' && notConverted.includes(name)) {
      continue;
    }
    const action = actionFor(compilation, property, namesakeOf(name), scope);
    if (action !== undefined) {
      actions.set(name, action);
    }
  }
  return actions.size === 0 ? undefined : { kind: 'object', actions };
}

/** The plan for the items of a list or the values of a map, which fields that move must not leave. */
function innerPlan(compilation: Compilation, source: Field, target: Field): ValuePlan | undefined {
  // Only for the check: a whole item or value is not dropped.
  limitsFor(compilation, source, target);
  return valuePlan(compilation, source, target, target.path);
}

function listPlan(compilation: Compilation, source: Field, target: Field): ValuePlan | undefined {
  if (source.schema.items === undefined || target.schema.items === undefined) {
    return undefined;
  }
  const items: Field = { path: `${source.path}[]`, schema: source.schema.items };
  const item = innerPlan(compilation, items, { path: `${target.path}[]`, schema: target.schema.items });
  return item && { kind: 'list', item };
}

function mapPlan(compilation: Compilation, source: Field, target: Field): ValuePlan | undefined {
  const { additionalProperties: values } = source.schema;
  const { additionalProperties: toValues } = target.schema;
  if (typeof values !== 'object' || typeof toValues !== 'object') {
    return undefined;
  }
  const value = innerPlan(
    compilation,
    { path: `${source.path}{}`, schema: values },
    { path: `${target.path}{}`, schema: toValues },
  );
  return value && { kind: 'map', value };
}

/**
 * The plan for a value; undefined if it is copied.
 *
 * @param scope what fields that move must stay within, by its path in the other version: a list item, a map value, or
 *   (empty) the whole object.
 */
function valuePlan(compilation: Compilation, source: Field, target: Field, scope: string): ValuePlan | undefined {
  const { from, to, problems } = compilation;
  const kind = kindOf(source);
  if (kind !== kindOf(target)) {
    problems.push(
      `${source.path}: ${kind} in ${from.apiVersion}, ${kindOf(target)} in ${to.apiVersion} (${target.path})`,
    );
    return undefined;
  }
  switch (kind) {
    case 'array':
      return listPlan(compilation, source, target);
    case 'map':
      return mapPlan(compilation, source, target);
    case 'object':
      return objectPlan(compilation, source, target, scope);
    default:
      return undefined;
  }
}

/**
 * Compiles one direction. `problems` are the differences that the table does not list, one line each; if there are any,
 * the plan is unusable.
 */
export function compileDirection(
  from: VersionSchema,
  to: VersionSchema,
  table: DirectedTable,
): { plan: ValuePlan | undefined; problems: readonly string[] } {
  const problems: string[] = [];
  const root = { path: '', schema: from.schema };
  return { plan: valuePlan({ from, to, table, problems }, root, { path: '', schema: to.schema }, ''), problems };
}
