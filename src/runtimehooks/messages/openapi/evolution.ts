import { isJsonObject, type Json, type JsonObject, objectAt } from '../../../kubernetes/index.ts';
import { type HookCatalog, hookCatalog } from '../../catalog/catalog.ts';
import { isAtLeastAsStable, stabilityOf, supportEnd } from '../../catalog/policy.ts';
import { compareReleases, formatRelease, type Release } from '../../catalog/release.ts';
import { type DocumentedHook, type HookDocument, OpenApiError, resolved } from './read.ts';

/** A change in a newer document of hooks. */
export interface HookChange {
  /** `break` when a rule of the Runtime SDK forbids it. */
  severity: 'break' | 'note';
  /** The Runtime SDK rule that the change violates, or that allows it: 1, 3 or 4. */
  rule?: 1 | 3 | 4;
  /** `GROUP/VERSION/hook`. */
  hook: string;
  /** Message and field, e.g. `response.handlers[].name`; absent if the hook itself changed. */
  field?: string;
  /** What changed and what to do, as a sentence without subject. */
  message: string;
}

interface EvolutionFacts {
  /** Lifecycles of the hooks, which rule 4 needs. Default: those of Cluster API. */
  lifecycles?: HookCatalog | undefined;
  /** The release of the newer document. */
  release?: Release | undefined;
  /** Month of that release, as YYYY-MM. */
  month: string;
}

const nameOf = ({ group, version, hook }: DocumentedHook) => `${group}/${version}/${hook}`;
const groupHookOf = ({ group, hook }: DocumentedHook) => `${group}/${hook}`;

/** A field in a message of a hook: Cluster API sends requests, the extension responses. */
interface Place {
  hook: string;
  direction: 'request' | 'response';
  path: string;
}

/** The schemas of one side of a comparison, in which references are resolved. */
type Schemas = ReadonlyMap<string, JsonObject>;

/** A schema that is not an object, such as `true`. */
const anything: JsonObject = {};

const texts = (value: Json | undefined): Set<string> =>
  new Set(Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []);

const propertiesOf = (schema: JsonObject): JsonObject => objectAt(schema, 'properties');

function typeOf(schema: JsonObject): string {
  const type = typeof schema.type === 'string' ? schema.type : 'anything';
  return typeof schema.format === 'string' ? `${type} (${schema.format})` : type;
}

/** Keywords for lower and upper limits of values. */
const lowerLimits = ['minLength', 'minimum', 'minItems', 'minProperties'] as const;
const upperLimits = ['maxLength', 'maximum', 'maxItems', 'maxProperties'] as const;

/** Maximum number of fields within each other that are compared: references can make chains of any length. */
const maxDepth = 200;
/**
 * Maximum number of fields that are compared: schemas that refer to each other in different ways, such as cycles of
 * different lengths, would make as many pairs as the product of their numbers.
 */
const maxCompared = 100_000;
/** Longest name of a field in a path, in characters: a long one would be repeated for all fields below it. */
const maxName = 253;

const shownName = (name: string): string => (name.length > maxName ? `${name.slice(0, maxName)}…` : name);

/** A place below another one: `.name`, `[]` or `{}`. */
const below = ({ path, ...place }: Place, step: string): Place => ({ ...place, path: `${path}${step}` });
const fieldOf = (place: Place, name: string) => below(place, `.${shownName(name)}`);

/**
 * Compares the messages of hooks in two documents.
 *
 * @returns a function that adds the changes of one message to `changes`. It throws an {OpenApiError} when fields nest too
 *   deep, or there are too many pairs of schemas.
 */
function createComparison(oldSchemas: Schemas, newSchemas: Schemas, changes: HookChange[]) {
  /**
   * Pairs of schemas that have been compared, since fields share schemas: a finding is reported only where it occurs
   * first.
   */
  const seen = {
    request: new WeakMap<JsonObject, Set<JsonObject>>(),
    response: new WeakMap<JsonObject, Set<JsonObject>>(),
  };
  let compared = 0;

  /** @param other what to do instead of making a new version. */
  function breaks({ hook, path: field }: Place, text: string, other = ''): void {
    changes.push({
      severity: 'break',
      rule: 1,
      hook,
      field,
      message: `${text}; ${other}make a new version of the hook`,
    });
  }

  function notes({ hook, path: field }: Place, message: string): void {
    changes.push({ severity: 'note', hook, field, message });
  }

  function compare(place: Place, oldValue: Json | undefined, newValue: Json | undefined, depth = 0): void {
    const before = resolved(oldValue, oldSchemas) ?? anything;
    const after = resolved(newValue, newSchemas) ?? anything;
    const partners = seen[place.direction].get(before) ?? new Set();
    if (partners.has(after)) {
      return;
    }
    seen[place.direction].set(before, partners.add(after));
    compared += 1 + Object.keys(propertiesOf(before)).length + Object.keys(propertiesOf(after)).length;
    if (depth > maxDepth || compared > maxCompared) {
      const problem =
        depth > maxDepth
          ? `nests deeper than ${maxDepth} levels`
          : `is one of more than ${maxCompared} fields in all combinations of references`;
      throw new OpenApiError(
        `cannot be compared: ${place.path.slice(0, 300)} of ${place.hook} ${problem}: shorten the chains of references`,
      );
    }
    compareValues(place, before, after);
    compareFields(place, before, after, depth + 1);
    for (const [keyword, mark] of [
      ['items', '[]'],
      ['additionalProperties', '{}'],
    ] as const) {
      if (isJsonObject(before[keyword]) && isJsonObject(after[keyword])) {
        compare(below(place, mark), before[keyword], after[keyword], depth + 1);
      }
    }
  }

  function compareFields(place: Place, before: JsonObject, after: JsonObject, depth: number): void {
    const isResponse = place.direction === 'response';
    const [oldProperties, newProperties] = [propertiesOf(before), propertiesOf(after)];
    const [oldRequired, newRequired] = [texts(before.required), texts(after.required)];
    for (const [name, property] of Object.entries(oldProperties)) {
      const field = fieldOf(place, name);
      if (!Object.hasOwn(newProperties, name)) {
        breaks(field, 'was removed');
        continue;
      }
      if (isResponse && newRequired.has(name) && !oldRequired.has(name)) {
        breaks(field, 'became required, which older extensions may leave out');
      }
      if (!isResponse && oldRequired.has(name) && !newRequired.has(name)) {
        breaks(field, 'became optional, but older extensions rely on it');
      }
      compare(field, property, newProperties[name], depth);
    }
    for (const name of Object.keys(newProperties).filter((key) => !Object.hasOwn(oldProperties, key))) {
      const field = fieldOf(place, name);
      if (field.path === 'response.retryAfterSeconds') {
        // Required by Cluster API's schemas, though its clients read its absence as 0.
        notes(field, 'is new: the hook can block; without it, it does not');
      } else if (isResponse && newRequired.has(name)) {
        breaks(field, 'is new and required, which older extensions do not answer', 'make it optional, or ');
      } else {
        notes(field, 'is new');
      }
    }
  }

  function compareValues(place: Place, before: JsonObject, after: JsonObject): void {
    const isResponse = place.direction === 'response';
    const [oldType, newType] = [typeOf(before), typeOf(after)];
    if (oldType !== newType) {
      breaks(place, `was ${oldType} and is now ${newType}`);
      return;
    }
    // An extension may still send a value that used to be allowed; it may not understand a new one.
    const [oldEnum, newEnum] = [texts(before.enum), texts(after.enum)];
    const [wide, narrow] = isResponse ? [oldEnum, newEnum] : [newEnum, oldEnum];
    const lost = wide.size === 0 ? ['any text'] : [...wide].filter((value) => !narrow.has(value));
    if (narrow.size > 0 && lost.length > 0) {
      const values = lost.join(', ');
      breaks(
        place,
        isResponse ? `no longer takes ${values}` : `may now be ${values}, which older extensions do not know`,
      );
    }
    const [loose, tight] = isResponse ? [before, after] : [after, before];
    const isTighter = (keyword: string, sign: 1 | -1) => {
      const [from, to] = [loose[keyword], tight[keyword]];
      return typeof to === 'number' && (typeof from !== 'number' || (to - from) * sign > 0);
    };
    for (const keyword of [
      ...lowerLimits.filter((keyword) => isTighter(keyword, 1)),
      ...upperLimits.filter((keyword) => isTighter(keyword, -1)),
    ]) {
      const limit = `${keyword} ${JSON.stringify(tight[keyword])}`;
      breaks(place, `${isResponse ? 'is limited further by' : 'is no longer limited by'} ${limit}`);
    }
  }

  return compare;
}

/** The other versions of a hook in a document that are at least as stable. */
function replacements(hook: DocumentedHook, document: ReadonlyMap<string, readonly DocumentedHook[]>): string[] {
  const stability = stabilityOf(hook.version);
  return (document.get(groupHookOf(hook)) ?? [])
    .map(({ version }) => version)
    .filter((version) => {
      const other = stabilityOf(version);
      return (
        version !== hook.version &&
        other !== undefined &&
        (stability === undefined || isAtLeastAsStable(other, stability))
      );
    });
}

function removal(
  hook: DocumentedHook,
  replacedBy: readonly string[],
  { lifecycles = hookCatalog, release, month }: EvolutionFacts,
): HookChange {
  const change = (severity: HookChange['severity'], rule: 1 | 4, message: string): HookChange => ({
    severity,
    rule,
    hook: nameOf(hook),
    message: `was removed${message}`,
  });
  if (replacedBy.length === 0) {
    return change('break', 1, ', and no version that is at least as stable takes its place');
  }
  const others = `${replacedBy.join(', ')} takes its place`;
  const lifecycle = lifecycles.findIgnoringCase(hook.group, hook.version, hook.hook);
  if (lifecycle === undefined || release === undefined) {
    const missing = lifecycle === undefined ? 'its life' : 'the release of the new document';
    return change('note', 1, `; ${others}. Whether that is too early cannot be said without ${missing}`);
  }
  const end = supportEnd(lifecycle);
  if (end === undefined) {
    return change('break', 4, ' without having been deprecated');
  }
  return compareReleases(release, end.release) < 0 || month < end.month
    ? change(
        'break',
        4,
        ` in ${formatRelease(release)} (${month}); a deprecated ${stabilityOf(hook.version)} version stays at least until ${formatRelease(end.release)} and ${end.month}`,
      )
    : change('note', 4, `, after its time; ${others}`);
}

/**
 * The changes from one document of hooks to the next, and which of them violate the Runtime SDK rules: hooks and their
 * parameters may be removed only in a new version (rule 1), a version may be deprecated only in favour of one that is
 * at least as stable (rule 3), and a deprecated version must be kept for a certain time (rule 4). A finding in a schema
 * that several hooks share is reported once.
 *
 * @throws {OpenApiError} when fields nest deeper than 200 levels, or references of the two documents combine to more than
 *   100,000 fields.
 */
export function compareHookDocuments(before: HookDocument, after: HookDocument, facts: EvolutionFacts): HookChange[] {
  const changes: HookChange[] = [];
  const compare = createComparison(before.schemas, after.schemas, changes);
  const newByName = new Map(after.hooks.map((hook) => [nameOf(hook), hook]));
  const oldNames = new Set(before.hooks.map(nameOf));
  const newByGroupHook = Map.groupBy(after.hooks, groupHookOf);
  const added = after.hooks.filter((hook) => !oldNames.has(nameOf(hook)));

  for (const hook of before.hooks) {
    const name = nameOf(hook);
    const current = newByName.get(name);
    if (current === undefined) {
      changes.push(removal(hook, replacements(hook, newByGroupHook), facts));
      continue;
    }
    if (hook.parameters.join() !== current.parameters.join()) {
      changes.push({
        severity: 'break',
        rule: 1,
        hook: name,
        message: `had the path ${hook.path} and now has ${current.path}; make a new version of the hook`,
      });
    }
    if (current.isDeprecated && !hook.isDeprecated) {
      const replacedBy = replacements(current, newByGroupHook);
      changes.push(
        replacedBy.length === 0
          ? {
              severity: 'break',
              rule: 3,
              hook: name,
              message: 'was deprecated, but there is no version that is at least as stable',
            }
          : { severity: 'note', rule: 3, hook: name, message: `was deprecated; ${replacedBy.join(', ')} replaces it` },
      );
    }
    if (hook.isDeprecated && !current.isDeprecated) {
      changes.push({ severity: 'note', hook: name, message: 'is no longer deprecated' });
    }
    for (const message of ['request', 'response'] as const) {
      compare({ hook: name, direction: message, path: message }, hook[message], current[message]);
    }
  }
  for (const hook of added) {
    changes.push({ severity: 'note', hook: nameOf(hook), message: 'is new' });
  }
  return changes;
}
