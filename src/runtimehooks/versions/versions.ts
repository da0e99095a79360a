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
 * Defines the conversion of a hook's messages between its versions: one change after the other, oldest first.
 *
 * @throws {Error} when the versions belong to different hooks, when a change does not begin where the one before it ends,
 *   and when a sample with every field, once converted, does not match the schema of the other version.
 */
export function defineHookVersions(changes: readonly HookVersionChange[]): HookVersions {
  const [first] = changes;
  if (first === undefined) {
    throw new Error('a hook with versions needs at least one change');
  }
  const { group, name } = first.older;
  const versions = [first.older, ...changes.map(({ newer }) => newer)];
  const known = versions.map(apiVersionOf);
  const stranger = versions.find((hook) => hook.group !== group || hook.name !== name);
  if (stranger !== undefined) {
    throw new Error(`${formatHook(stranger)} is not a version of ${formatHook(first.older)}`);
  }
  if (new Set(known).size < known.length || !changes.every(({ older }, index) => older === versions[index])) {
    throw new Error(`each change of ${name} must begin with the version that the one before it ends with`);
  }
  for (const change of changes) {
    checkSteps(change);
  }

  /** @throws {ConversionError} when they do not lead from the one version up to the other. */
  function changesBetween(older: Json | undefined, newer: Json | undefined): readonly HookVersionChange[] {
    const [from, to] = [older, newer].map((version) => known.indexOf(String(version))) as [number, number];
    if (from === -1 || to < from) {
      throw new ConversionError(
        ['apiVersion'],
        `cannot convert ${showValue(from === -1 ? older : newer)}: requests are converted to older versions and responses to newer ones, and those of ${name} are ${known.join(', ')}`,
      );
    }
    return changes.slice(from, to);
  }
  return {
    group,
    name,
    versions,
    requestFor(version, request) {
      const path = changesBetween(`${group}/${version}`, request.apiVersion);
      const converted = path.reduceRight(toOlder, request);
      const [problem] = path[0] === undefined ? [] : messageProblems(path[0].older, 'request', converted, 'strict');
      if (problem !== undefined) {
        throw new ConversionError([problem.field], `${problem.message} in ${version}`);
      }
      return converted;
    },
    responseFor(version, response) {
      return changesBetween(response.apiVersion, `${group}/${version}`).reduce(toNewer, response);
    },
  };
}
