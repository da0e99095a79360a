import { allowDeletionAnnotation } from '../../extensionconfig/index.ts';
import { type AdmissionRequest, itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';

/** Longest namespaceSelector that is passed on, in characters of JSON. */
const maxSelectorLength = 64 * 1024;
/** Maximum number of hooks that are passed on: Cluster API has 17. */
const maxHooks = 512;

/** One handler for each hook, since a deletion waits for hooks, not for handlers. */
function handlersOf(status: JsonObject): JsonObject[] {
  const hooks = new Map<string, JsonObject>();
  for (const handler of itemsAt(status, 'handlers')) {
    const { apiVersion, hook } = objectAt(handler, 'requestHook');
    if (typeof apiVersion === 'string' && typeof hook === 'string' && apiVersion.length + hook.length < 1024) {
      hooks.set(`${apiVersion} ${hook}`, { requestHook: { apiVersion, hook } });
    }
    if (hooks.size >= maxHooks) {
      break;
    }
  }
  return [...hooks.values()];
}

/** A deletion reduced to what the rules about deletions need, however large the deleted object is. */
export function shortDeletion(request: AdmissionRequest): AdmissionRequest {
  const { apiVersion = null, kind = null, metadata, spec, status } = objectAt(request.oldObject);
  const { name = null, deletionTimestamp, annotations } = objectAt(metadata);
  const allowed = objectAt(annotations)[allowDeletionAnnotation];
  const { namespaceSelector } = objectAt(spec);
  const isShort = namespaceSelector !== undefined && JSON.stringify(namespaceSelector).length <= maxSelectorLength;
  return {
    ...request,
    object: undefined,
    oldObject: {
      apiVersion,
      kind,
      metadata: {
        name,
        ...(deletionTimestamp !== undefined && { deletionTimestamp }),
        ...(allowed !== undefined && { annotations: { [allowDeletionAnnotation]: allowed } }),
      },
      spec: isShort ? { namespaceSelector } : {},
      status: { handlers: handlersOf(objectAt(status)) },
    },
  };
}
