import {
  applyMergePatch,
  applyOperations,
  copyOf,
  fieldAt,
  isJsonObject,
  isOperation,
  isSame,
  isTooDeep,
  type Json,
  type JsonObject,
  jsonPatchOf,
  maxJsonDepth,
  maxPatchOperations,
  PatchError,
  type PatchOperation,
  textAt,
  undecodable,
} from '../../../kubernetes/index.ts';

/** An invalid patch. The message is appended to Cluster API's. */
export class BadPatch extends Error {}

/** Longest patch that is decoded, in characters of base64: the limit for a whole answer. */
const maxPatchLength = 20 * 1024 * 1024;

function decoded(patch: Json | undefined): Json | undefined {
  if (typeof patch !== 'string' || patch === '') {
    return undefined;
  }
  if (patch.length > maxPatchLength) {
    throw new BadPatch(
      `it has ${patch.length} characters of base64, and a rehearsal decodes at most ${maxPatchLength}: send only what changes`,
    );
  }
  const text = Buffer.from(patch, 'base64').toString('utf8');
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new BadPatch((error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 200));
  }
  if (isTooDeep(value)) {
    throw new BadPatch(`it nests deeper than ${maxJsonDepth} levels, which a rehearsal cannot handle`);
  }
  return value;
}

function patched(object: JsonObject, item: JsonObject): JsonObject {
  const { patchType } = item;
  if (patchType === 'JSONPatch') {
    let operations: Json | undefined;
    try {
      operations = decoded(item.patch);
    } catch (error) {
      throw error instanceof BadPatch ? new BadPatch(`error decoding json patch (RFC6902): ${error.message}`) : error;
    }
    if (!Array.isArray(operations) || !operations.every(isOperation)) {
      throw new BadPatch('error decoding json patch (RFC6902): it is not a list of operations');
    }
    if (operations.length > maxPatchOperations) {
      throw new BadPatch(
        `it has ${operations.length} operations, and a rehearsal applies at most ${maxPatchOperations}: replace whole objects and lists, or send a merge patch`,
      );
    }
    const problem = undecodable(operations);
    if (problem !== undefined) {
      throw new BadPatch(`error decoding json patch (RFC6902): ${problem}`);
    }
    try {
      const result = applyOperations(object, operations as unknown as PatchOperation[]);
      if (!isJsonObject(result)) {
        throw new PatchError('the result is not an object');
      }
      return result;
    } catch (error) {
      throw error instanceof PatchError ? new BadPatch(`error applying json patch (RFC6902): ${error.message}`) : error;
    }
  }
  if (patchType === 'JSONMergePatch') {
    let patch: Json | undefined;
    try {
      patch = decoded(item.patch);
    } catch (error) {
      throw error instanceof BadPatch
        ? new BadPatch(`error applying json merge patch (RFC7386): ${error.message}`)
        : error;
    }
    if (patch === undefined) {
      return object;
    }
    const result = applyMergePatch(copyOf(object), patch);
    if (!isJsonObject(result)) {
      throw new BadPatch('error applying json merge patch (RFC7386): the result is not an object');
    }
    return result;
  }
  throw new BadPatch('failed to apply patch to template');
}

/** Fields of a control plane that Cluster API sets itself, whatever patches do. */
const controlPlaneFields: readonly (readonly string[])[] = [
  ['spec', 'template', 'spec', 'version'],
  ['spec', 'template', 'spec', 'replicas'],
  ['spec', 'template', 'spec', 'machineTemplate', 'infrastructureRef'],
  ['spec', 'template', 'spec', 'machineTemplate', 'spec', 'infrastructureRef'],
];

function put(object: JsonObject, path: readonly string[], value: Json | undefined): void {
  const [name = '', ...rest] = path;
  if (rest.length > 0) {
    const inner = object[name];
    if (isJsonObject(inner)) {
      put(inner, rest, value);
    }
  } else if (value === undefined) {
    delete object[name];
  } else {
    object[name] = value;
  }
}

/**
 * Applies one patch of an answer to a template, as Cluster API does: it takes the spec, the labels and the annotations
 * from the result, except for the fields of a control plane that it sets itself.
 *
 * @returns the template, and the paths (JSON pointers) of changes that were ignored.
 * @throws {BadPatch} when it cannot be applied.
 */
export function applyPatch(
  object: JsonObject,
  item: JsonObject,
  isControlPlane: boolean,
): { object: JsonObject; ignored: string[] } {
  const result = patched(object, item);
  if (textAt(result, 'kind') === '') {
    throw new BadPatch(
      "failed to apply patch to template: failed to convert patched template to Unstructured: Object 'Kind' is missing",
    );
  }
  if (result.spec === undefined) {
    throw new BadPatch('failed to apply patch to template: missing field "spec"');
  }
  const taken = copyOf(object);
  taken.spec = copyOf(result.spec);
  for (const name of ['labels', 'annotations']) {
    const value = fieldAt(result, 'metadata', name);
    if (!isSame(value, fieldAt(object, 'metadata', name))) {
      put(taken, ['metadata', name], value === undefined ? undefined : copyOf(value));
    }
  }
  if (isControlPlane) {
    for (const path of controlPlaneFields) {
      const before = fieldAt(object, ...path);
      if (!isSame(before, fieldAt(taken, ...path))) {
        put(taken, path, before);
      }
    }
  }
  return { object: taken, ignored: jsonPatchOf(taken, result).map(({ path }) => path) };
}

/** Whether Cluster API skips a patch: it is absent, or has no content. */
export function isEmptyPatch({ patchType, patch }: JsonObject): boolean {
  const text = typeof patch === 'string' ? Buffer.from(patch, 'base64').toString('utf8').trim() : '';
  return patchType === 'JSONPatch'
    ? text === '[]' || text === 'null'
    : patchType === 'JSONMergePatch' && (text === '' || text === '{}');
}

/** Whether a template is that of the control plane object. */
export const isControlPlaneHolder = (holder: JsonObject): boolean =>
  textAt(holder, 'kind') === 'Cluster' && textAt(holder, 'fieldPath') === 'spec.controlPlaneRef';
