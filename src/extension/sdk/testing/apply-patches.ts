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

export interface ApplyOptions {
  /** CustomResourceDefinitions of providers, which the patched templates must match. Default: none. */
  crds?: readonly object[] | undefined;
}

/**
 * The templates of a request with the patches of a response, without what Cluster API ignores or overwrites
 * (core/reconcilers/topology/cluster/patches/engine.go, v1.14). In the order of the request's items.
 *
 * @throws {Error} when the response is a Failure, Cluster API could not apply a patch, a patch is for an item that the
 *   request does not have, or an API server with these `crds` would refuse a patched template or drop fields of it.
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
