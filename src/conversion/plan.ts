import type { OpenApiSchema } from '../api/index.ts';
import { canCheck, tightened } from './limits.ts';
import { isBelow, joinPath, schemaAt, tokensOf } from './schema-path.ts';

/**
 * What changed between two neighbouring versions, as far as their schemas cannot tell. Paths are written
 * `status.handlers[].name`: `[]` means the items of a list, `{}` the values of a map.
 *
 * A field that no entry names becomes the field with the same name in the other version, or else the field whose name
 * differs only in case, since acronyms are often respelled between versions (`URL` and `url`).
 */
export interface ChangeTable {
  /** Fields that were renamed or moved: path in the older version → path in the newer one. */
  moves?: Readonly<Record<string, string>>;
  /** Fields of the older version that the newer one does not have. They are kept as conversion data. */
  removed?: readonly string[];
  /** Fields of the newer version that the older one does not have. They are kept as conversion data. */
  added?: readonly string[];
  /** Fields that the hand-written steps convert; the automatic part leaves them out. */
  byHand?: { older?: readonly string[]; newer?: readonly string[] };
  /**
   * Fields for which one version has tighter limits than the other: `keep` leaves out values beyond the limits, and
   * keeps them as conversion data; `pass` copies them nevertheless, and leaves the decision to the API server's
   * validation.
   */
  tighter?: Readonly<Record<string, 'keep' | 'pass'>>;
}

/** What happens to one property. */
export type PropertyAction =
  /** Becomes a property of the object that its own object becomes. */
  | { do: 'set'; name: string; plan: ValuePlan | undefined; limits: OpenApiSchema | undefined }
  /** Moves to another path, relative to the root or the list item. */
  | { do: 'move'; to: readonly string[]; plan: ValuePlan | undefined; limits: OpenApiSchema | undefined }
  /** Becomes conversion data, without the nested fields that move elsewhere. */
  | { do: 'keep'; below: ReadonlyMap<string, PropertyAction> }
  /** Is left to the hand-written step. */
  | { do: 'skip' };

/** How a value is converted. Values without a plan, and properties without an action, are copied unchanged. */
export type ValuePlan =
  | { kind: 'object'; actions: ReadonlyMap<string, PropertyAction> }
  | { kind: 'list'; item: ValuePlan; keys: readonly string[] }
  | { kind: 'map'; value: ValuePlan };

/** The automatic part of one direction. */
export interface ConversionPlan {
  root: ValuePlan | undefined;
  /** What conversion data may hold for the version that the plan starts from: paths, with the limits to be exceeded. */
  kept: ReadonlyMap<string, OpenApiSchema | undefined>;
  /** The keys that identify the items of each list that the plan goes through, by the path of its items. */
  listKeys: ReadonlyMap<string, readonly string[]>;
}

/** Two versions differ in a way that no table lists. */
export class UnlistedDifferenceError extends Error {}

interface Side {
  version: string;
  schema: OpenApiSchema;
  only: ReadonlySet<string>;
  byHand: ReadonlySet<string>;
}

/** The root, list item or map value that moves must stay within, on both sides. */
interface Scope {
  from: string;
  to: string;
}

const notConverted: readonly string[] = ['apiVersion', 'kind', 'metadata'];

function kindOf(schema: OpenApiSchema): string {
  if (schema['x-kubernetes-int-or-string']) {
    return 'integer or string';
  }
  if (schema.type === undefined || schema['x-kubernetes-preserve-unknown-fields']) {
    return 'anything';
  }
  return schema.type === 'object' && typeof schema.additionalProperties === 'object' ? 'map' : schema.type;
}

/** Whether two names are the same but for their case: how acronyms get respelled between versions (`URL`, `url`). */
function isSameIgnoringCase(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function compileDirection(
  from: Side,
  to: Side,
  moves: ReadonlyMap<string, string>,
  tighter: ReadonlyMap<string, 'keep' | 'pass'>,
  problems: string[],
  used: Set<string>,
  keeps: boolean,
): ConversionPlan {
  const kept = new Map<string, OpenApiSchema | undefined>();
  const listKeys = new Map<string, readonly string[]>();
  const targets = new Set(moves.values());

  function isMoveBelow(path: string): boolean {
    return [...moves.keys()].some((source) => isBelow(source, path));
  }

  function limitsFor(source: OpenApiSchema, target: OpenApiSchema, path: string, toPath: string) {
    const keywords = tightened(source, target);
    if (keywords.length === 0) {
      return undefined;
    }
    const listed = tighter.has(path) ? path : toPath;
    const treatment = tighter.get(listed);
    if (treatment === undefined) {
      problems.push(`${path}: ${to.version} limits ${keywords.join(', ')} where ${from.version} does not`);
      return undefined;
    }
    used.add(`tighter ${listed}`);
    if (treatment === 'pass') {
      return undefined;
    }
    if (/[\]}]$/.test(path) || !keywords.every(canCheck)) {
      problems.push(`${path}: only a property can be left out and kept, and not for ${keywords.join(', ')}`);
      return undefined;
    }
    kept.set(path, target);
    return target;
  }

  function checkRequired(source: OpenApiSchema, target: OpenApiSchema, path: string, toPath: string): void {
    const known = new Set((source.required ?? []).map((name) => joinPath(path, name)));
    const sourceOf = new Map([...moves].map(([a, b]) => [b, a]));
    for (const name of target.required ?? []) {
      const toName = joinPath(toPath, name);
      const fromName = sourceOf.get(toName) ?? joinPath(path, name);
      const isRequired = [...known].some((other) => isSameIgnoringCase(other, fromName));
      const listed = tighter.has(fromName) ? fromName : toName;
      if (isRequired || to.byHand.has(toName)) {
        continue;
      }
      if (tighter.get(listed) !== 'pass') {
        problems.push(`${toName}: required in ${to.version}, not in ${from.version}`);
      }
      used.add(`tighter ${listed}`);
    }
  }

  /**
   * The property of the other version that a property becomes without an entry in the table: the one with the same
   * name, or else one whose name differs only in case, unless this version has a property of that exact name as well.
   */
  function counterpart(name: string, source: OpenApiSchema, target: OpenApiSchema, toPath: string) {
    const isFree = (candidate: string) => {
      const path = joinPath(toPath, candidate);
      return !targets.has(path) && !to.only.has(path) && !to.byHand.has(path);
    };
    const names = Object.keys(target.properties ?? {}).filter(isFree);
    return (
      names.find((candidate) => candidate === name) ??
      names.find(
        (candidate) => isSameIgnoringCase(candidate, name) && !Object.hasOwn(source.properties ?? {}, candidate),
      )
    );
  }

  function moveAction(source: OpenApiSchema, path: string, target: string, scope: Scope): PropertyAction | undefined {
    used.add(`moves ${path} ${target}`);
    const schema = schemaAt(to.schema, target);
    const relative = tokensOf(scope.to === '' ? target : target.slice(scope.to.length));
    const isInside = scope.to === '' || isBelow(target, scope.to);
    if (schema === undefined) {
      problems.push(`${path}: moves to ${target}, which ${to.version} does not have`);
      return undefined;
    }
    if (!isInside || relative.some((token) => token === '[]' || token === '{}')) {
      problems.push(
        `${path}: moves to ${target}, out of its list or into another; only a hand-written step can do that`,
      );
      return undefined;
    }
    const limits = limitsFor(source, schema, path, target);
    return { do: 'move', to: relative, plan: valuePlan(source, schema, path, target, scope), limits };
  }

  /** The actions for nested fields that move elsewhere from a property that is kept. */
  function actionsBelow(
    source: OpenApiSchema,
    path: string,
    isListed: boolean,
    scope: Scope,
  ): Map<string, PropertyAction> {
    const actions = new Map<string, PropertyAction>();
    for (const [name, schema] of Object.entries(source.properties ?? {})) {
      const child = joinPath(path, name);
      const target = moves.get(child);
      const isChildListed = isListed || from.only.has(child);
      if (from.only.has(child)) {
        used.add(`only ${child}`);
      }
      if (target !== undefined) {
        const action = moveAction(schema, child, target, scope);
        if (action !== undefined) {
          actions.set(name, action);
        }
      } else if (from.byHand.has(child)) {
        used.add(`byHand ${child}`);
        actions.set(name, { do: 'skip' });
      } else if (isMoveBelow(child)) {
        actions.set(name, { do: 'keep', below: actionsBelow(schema, child, isChildListed, scope) });
      } else if (!isChildListed) {
        problems.push(`${child}: only ${from.version} has it`);
      }
    }
    return actions;
  }

  function actionFor(
    name: string,
    source: OpenApiSchema,
    target: OpenApiSchema,
    path: string,
    toPath: string,
    scope: Scope,
  ): PropertyAction | undefined {
    const schema = source.properties?.[name] as OpenApiSchema;
    const child = joinPath(path, name);
    const moved = moves.get(child);
    if (moved !== undefined) {
      return moveAction(schema, child, moved, scope);
    }
    if (from.byHand.has(child)) {
      used.add(`byHand ${child}`);
      return { do: 'skip' };
    }
    const isListed = from.only.has(child);
    const other = isListed ? undefined : counterpart(name, source, target, toPath);
    if (other === undefined) {
      if (isListed) {
        used.add(`only ${child}`);
      } else if (!isMoveBelow(child)) {
        problems.push(`${child}: only ${from.version} has it`);
        return undefined;
      }
      kept.set(child, undefined);
      return { do: 'keep', below: actionsBelow(schema, child, isListed, scope) };
    }
    const otherSchema = target.properties?.[other] as OpenApiSchema;
    const otherPath = joinPath(toPath, other);
    const limits = limitsFor(schema, otherSchema, child, otherPath);
    const plan = valuePlan(schema, otherSchema, child, otherPath, scope);
    return other === name && plan === undefined && limits === undefined
      ? undefined
      : { do: 'set', name: other, plan, limits };
  }

  function hasKept(path: string): boolean {
    return [...kept.keys()].some((other) => isBelow(other, path));
  }

  function valuePlan(
    source: OpenApiSchema,
    target: OpenApiSchema,
    path: string,
    toPath: string,
    scope: Scope,
  ): ValuePlan | undefined {
    const kind = kindOf(source);
    if (kind !== kindOf(target)) {
      problems.push(`${path}: ${kind} in ${from.version}, ${kindOf(target)} in ${to.version} (${toPath})`);
      return undefined;
    }
    if (kind === 'array' && source.items !== undefined && target.items !== undefined) {
      const inner = { from: `${path}[]`, to: `${toPath}[]` };
      limitsFor(source.items, target.items, inner.from, inner.to);
      const item = valuePlan(source.items, target.items, inner.from, inner.to, inner);
      const keys = source['x-kubernetes-list-map-keys'] ?? [];
      listKeys.set(inner.from, keys);
      if (keeps && keys.length === 0 && hasKept(inner.from)) {
        problems.push(
          `${path}: its items have no keys to find them by, so nothing below it can be kept as conversion data`,
        );
      }
      return item && { kind: 'list', item, keys };
    }
    if (kind === 'map') {
      const inner = { from: `${path}{}`, to: `${toPath}{}` };
      const [sourceValue, targetValue] = [source.additionalProperties, target.additionalProperties] as OpenApiSchema[];
      limitsFor(sourceValue as OpenApiSchema, targetValue as OpenApiSchema, inner.from, inner.to);
      const value = valuePlan(sourceValue as OpenApiSchema, targetValue as OpenApiSchema, inner.from, inner.to, inner);
      return value && { kind: 'map', value };
    }
    if (kind === 'object') {
      checkRequired(source, target, path, toPath);
      const actions = new Map<string, PropertyAction>();
      for (const name of Object.keys(source.properties ?? {})) {
        if (path === '' && notConverted.includes(name)) {
          continue;
        }
        const action = actionFor(name, source, target, path, toPath, scope);
        if (action !== undefined) {
          actions.set(name, action);
        }
      }
      return actions.size === 0 ? undefined : { kind: 'object', actions };
    }
    return undefined;
  }

  return { root: valuePlan(from.schema, to.schema, '', '', { from: '', to: '' }), kept, listKeys };
}

/** One version as the compiler needs it. */
export interface VersionSchema {
  apiVersion: string;
  schema: OpenApiSchema;
}

/**
 * Compiles both directions between two versions from their schemas and the table of what changed.
 *
 * @param keeps whether what one version cannot represent is kept as conversion data; otherwise it is lost.
 * @throws {UnlistedDifferenceError} naming every difference that the table does not list, and every entry of the table
 * that matches nothing.
 */
export function compilePlans(
  older: VersionSchema,
  newer: VersionSchema,
  table: ChangeTable,
  keeps = true,
): { toNewer: ConversionPlan; toOlder: ConversionPlan } {
  const side = ({ apiVersion, schema }: VersionSchema, only: readonly string[], byHand: readonly string[]): Side => ({
    version: apiVersion,
    schema,
    only: new Set(only),
    byHand: new Set(byHand),
  });
  const left = side(older, table.removed ?? [], table.byHand?.older ?? []);
  const right = side(newer, table.added ?? [], table.byHand?.newer ?? []);
  const moves = Object.entries(table.moves ?? {});
  const tighter = new Map(Object.entries(table.tighter ?? {}));
  const problems: string[] = [];
  const used = { left: new Set<string>(), right: new Set<string>() };
  const toNewer = compileDirection(left, right, new Map(moves), tighter, problems, used.left, keeps);
  const back = new Map(moves.map(([from, to]) => [to, from]));
  const toOlder = compileDirection(right, left, back, tighter, problems, used.right, keeps);

  if (back.size < moves.length) {
    problems.push('two moves have the same target');
  }
  const expected = [
    ...moves.map(([from, to]) => [used.left, `moves ${from} ${to}`] as const),
    ...moves.map(([from, to]) => [used.right, `moves ${to} ${from}`] as const),
    ...[...left.only].map((path) => [used.left, `only ${path}`] as const),
    ...[...right.only].map((path) => [used.right, `only ${path}`] as const),
    ...[...left.byHand].map((path) => [used.left, `byHand ${path}`] as const),
    ...[...right.byHand].map((path) => [used.right, `byHand ${path}`] as const),
    ...[...tighter.keys()].map((path) => [new Set([...used.left, ...used.right]), `tighter ${path}`] as const),
  ];
  problems.push(
    ...expected.filter(([seen, entry]) => !seen.has(entry)).map(([, entry]) => `${entry}: listed, but matches nothing`),
  );
  if (problems.length > 0) {
    throw new UnlistedDifferenceError(
      `${older.apiVersion} and ${newer.apiVersion} differ in ways that no table lists:\n- ${[...new Set(problems)].join('\n- ')}`,
    );
  }
  return { toNewer, toOlder };
}
