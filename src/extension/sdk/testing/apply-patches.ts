import type { JsonObject } from '../../../kubernetes/index.ts';
import { patchProblems, schemasOf } from '../../../kubernetes/schema/index.ts';
import {
  applyPatch,
  type GeneratePatchesRequest,
  type GeneratePatchesResponse,
  isEmptyPatch,
  placeOfItem,
  revertIgnored,
} from '../../../runtimehooks/index.ts';

/** Options of `applyPatches`. */
export interface ApplyOptions {
  /** CustomResourceDefinitions of providers, which the patched templates must match. Default: none. */
  crds?: readonly object[] | undefined;
}

/**
 * The patched templates of a request, without what Cluster API ignores or overwrites
 * (core/reconcilers/topology/cluster/patches/engine.go, v1.14), in the order of its items.
 *
 * @throws {Error} for a Failure, a patch that Cluster API could not apply or that is for another item, and a template that an
 *   API server with these `crds` would refuse or drop fields of.
 */
export function applyPatches(
  request: Pick<GeneratePatchesRequest, 'items'>,
  response: Partial<GeneratePatchesResponse>,
  { crds = [] }: ApplyOptions = {},
): JsonObject[] {
  if (response.status === 'Failure') {
    throw new Error(`the response is a Failure, of which Cluster API applies nothing: ${response.message}`);
  }
  const schemaOf = schemasOf(crds as readonly JsonObject[]);
  const items = new Map(request.items.map((item) => [item.uid, { ...item, object: item.object as JsonObject }]));
  for (const patch of response.items ?? []) {
    const item = items.get(patch.uid);
    if (item === undefined) {
      throw new Error(`the response has a patch for ${JSON.stringify(patch.uid)}, which the request does not have`);
    }
    if (isEmptyPatch(patch)) {
      continue;
    }
    const after = applyPatch(item.object, patch);
    revertIgnored(item.object, after, placeOfItem(item));
    const problems = patchProblems(item.object, after, schemaOf);
    if (problems.length > 0) {
      throw new Error(`${after.kind} as patched is not valid:\n${problems.join('\n')}`);
    }
    item.object = after;
  }
  return [...items.values()].map(({ object }) => object);
}
