import { ConversionError, isJsonObject, type Json, type JsonObject, own, showValue } from '../../kubernetes/index.ts';
import { formatHook, type HookDefinition } from '../catalog/definition.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import {
  type Components,
  componentsFor,
  formatProblems,
  messageProblems,
  resolved,
  sampleRequest,
  sampleResponse,
} from '../messages/index.ts';

/** Makes a new message of one in the other version; apiVersion and kind are set by the caller. */
type ConversionStep = (message: JsonObject) => JsonObject;

/**
 * Two adjacent versions of a hook. Requests are converted to older versions, responses to newer ones. Without a function,
 * both versions have the same fields.
 */
export interface HookVersionChange {
  older: HookDefinition;
  newer: HookDefinition;
  /** The request in the older version, without what that cannot represent (rule 2 of the Runtime SDK). */
  request?: ConversionStep | undefined;
  /** The response in the newer version, whose new fields get the defaults in its schema. */
  response?: ConversionStep | undefined;
}

/** The versions of one hook, between which messages are converted. */
export interface HookVersions {
  group: string;
  name: string;
  versions: readonly HookDefinition[];
  /**
   * The request in the version of a handler, the same or an older one.
   *
   * @throws {ConversionError} for another version, and when the result is not valid.
   */
  requestFor(version: string, request: JsonObject): JsonObject;
  /**
   * The response in the version of the caller, the same or a newer one.
   *
   * @throws {ConversionError} for another version.
   */
  responseFor(version: string, response: JsonObject): JsonObject;
}

/** The value with the defaults of fields that it lacks. */
function withDefaults(value: Json, schema: MessageSchema | undefined, components: Components): Json {
  const { items, properties } = resolved(schema, components) ?? {};
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((item) => withDefaults(item, items, components));
  }
  if (!isJsonObject(value) || properties === undefined) {
    return value;
  }
  const result = { ...value };
  for (const [name, field] of Object.entries(properties)) {
    const present = own(value, name);
    if (present !== undefined) {
      result[name] = withDefaults(present, field, components);
    } else if (field.default !== undefined) {
      result[name] = structuredClone(field.default) as Json;
    }
  }
  return result;
}

const apiVersionOf = ({ group, version }: HookDefinition) => `${group}/${version}`;

function toOlder(request: JsonObject, { older, request: step }: HookVersionChange): JsonObject {
  const converted = step === undefined ? request : step(request);
  return { ...converted, apiVersion: apiVersionOf(older), kind: older.request.kind };
}

function toNewer(response: JsonObject, { newer, response: step }: HookVersionChange): JsonObject {
  const converted = step === undefined ? response : step(response);
  const message = { ...converted, apiVersion: apiVersionOf(newer), kind: newer.response.kind };
  return withDefaults(message, newer.response.schema, componentsFor(newer)) as JsonObject;
}

/** Converts samples, which have every field: a field that a step forgets is found here, not in a call. */
function checkSteps(change: HookVersionChange): void {
  const { older, newer } = change;
  const request = messageProblems(older, 'request', toOlder(sampleRequest(newer), change), 'strict');
  const response = messageProblems(newer, 'response', toNewer(sampleResponse(older), change), 'strict');
  for (const [message, to, problems] of [
    ['request', older, request],
    ['response', newer, response],
  ] as const) {
    if (problems.length > 0) {
      throw new Error(
        `${formatHook(older)} and ${newer.version}: a ${message} converted to ${to.version} is not valid: ${formatProblems(problems)}`,
      );
    }
  }
}

/**
 * Defines the conversion of a hook's messages between its versions, one change after the other.
 *
 * @throws {Error} when the versions belong to different hooks, when not each leads to the newest in one way, and when a
 *   sample with every field, once converted, does not match the schema of the other version.
 */
export function defineHookVersions(changes: readonly HookVersionChange[]): HookVersions {
  const versions = [...new Set(changes.flatMap(({ older, newer }) => [older, newer]))];
  const [first] = versions;
  if (first === undefined) {
    throw new Error('a hook with versions needs at least one change');
  }
  const { group, name } = first;
  const stranger = versions.find((hook) => hook.group !== group || hook.name !== name);
  if (stranger !== undefined) {
    throw new Error(`${formatHook(stranger)} is not a version of ${formatHook(first)}`);
  }
  const changeOf = new Map(changes.map((change) => [apiVersionOf(change.older), change]));
  const known = versions.map(apiVersionOf);
  /** The changes from one version up to a newer one; undefined if they do not lead there. */
  function changesBetween(older: Json | undefined, newer: Json | undefined): HookVersionChange[] | undefined {
    const changes: HookVersionChange[] = [];
    let at = older;
    while (at !== newer) {
      const change = changeOf.get(String(at));
      if (change === undefined || changes.includes(change)) {
        return undefined;
      }
      changes.push(change);
      at = apiVersionOf(change.newer);
    }
    return changes;
  }
  const newest = known.find((version) => !changeOf.has(version));
  if (changeOf.size < changes.length || known.some((version) => changesBetween(version, newest) === undefined)) {
    throw new Error(`each version of ${name} must lead to the newest in one way: ${known.join(', ')}`);
  }
  for (const change of changes) {
    checkSteps(change);
  }

  function unknownVersion(from: Json | undefined, to: string): ConversionError {
    const wrong = known.includes(String(from)) ? to : from;
    return new ConversionError(
      ['apiVersion'],
      `cannot convert ${showValue(wrong)}: requests are converted to older versions and responses to newer ones, and those of ${name} are ${known.join(', ')}`,
    );
  }
  return {
    group,
    name,
    versions,
    requestFor(version, request) {
      const path = changesBetween(`${group}/${version}`, request.apiVersion);
      if (path === undefined) {
        throw unknownVersion(request.apiVersion, `${group}/${version}`);
      }
      const converted = path.reduceRight(toOlder, request);
      const [problem] = path[0] === undefined ? [] : messageProblems(path[0].older, 'request', converted, 'strict');
      if (problem !== undefined) {
        throw new ConversionError([problem.field], `${problem.message} in ${version}`);
      }
      return converted;
    },
    responseFor(version, response) {
      const path = changesBetween(response.apiVersion, `${group}/${version}`);
      if (path === undefined) {
        throw unknownVersion(response.apiVersion, `${group}/${version}`);
      }
      return path.reduce(toNewer, response);
    },
  };
}
