import { orAborted } from '../../base/index.ts';
import { selectsLabels } from '../../kubernetes/index.ts';
import { type CallError, type CallStep, isCallError } from './call-error.ts';
import type { CalledObject, ClientOptions } from './client-types.ts';
import type { Extension } from './registry.ts';

/** The labels of a namespace, or why they are unknown. */
async function labelsOf(
  namespace: string,
  namespaceLabels: ClientOptions['namespaceLabels'],
  signal: AbortSignal | undefined,
): Promise<{ labels: Readonly<Record<string, string>> } | CallError> {
  const failed = (problem: string, step: CallStep = 'selector'): CallError => ({
    step,
    message: `failed to match namespace: failed to get namespace ${namespace}: ${problem}`,
  });
  if (namespaceLabels === undefined) {
    // Not as if it had no labels: extensions would be left out, and nobody would notice.
    return failed('this client cannot look up labels of namespaces; pass namespaceLabels to createClient');
  }
  try {
    const work = namespaceLabels(namespace);
    const labels = await (signal === undefined ? work : orAborted(work, signal));
    return labels === undefined ? failed(`Namespace ${JSON.stringify(namespace)} not found`) : { labels };
  } catch (error) {
    if (signal?.aborted) {
      return failed('context canceled', 'cancelled');
    }
    return failed(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Returns a function that tells whether an extension selects the namespace of an object, which is looked up once, for the
 * first selector with requirements.
 */
export function selectorFor(
  { namespace }: CalledObject,
  namespaceLabels: ClientOptions['namespaceLabels'],
  signal?: AbortSignal,
): (extension: Extension) => Promise<boolean | CallError> {
  let labels: ReturnType<typeof labelsOf> | undefined;
  return async ({ namespaceSelector: selector }) => {
    if (selector === undefined || Object.values(selector).every((part) => Object.keys(part ?? {}).length === 0)) {
      return selector !== undefined;
    }
    labels ??= labelsOf(namespace, namespaceLabels, signal);
    const ofNamespace = await labels;
    return isCallError(ofNamespace) ? ofNamespace : selectsLabels(selector, ofNamespace.labels);
  };
}
