import { allowDeletionAnnotation, type ExtensionConfig } from '../../../extensionconfig/index.ts';
import { showValue } from '../../../kubernetes/index.ts';
import { hooksGroup } from '../../../runtimehooks/index.ts';
import { referencesTo } from '../../facts/store.ts';
import { someClusters, someReferences } from '../related.ts';
import type { Rule } from '../rule.ts';

type Metadata = ExtensionConfig['metadata'];

function isDeletionAllowed({ annotations }: Metadata): boolean {
  return annotations?.[allowDeletionAnnotation] === 'true';
}

/** How to allow the deletion, as the end of a message, and why another value of the annotation does not count. */
function howToAllowDeletion({ name = '', annotations }: Metadata): string {
  const value = annotations?.[allowDeletionAnnotation];
  const set = `extensionconfig ${name} ${allowDeletionAnnotation}=true`;
  return value === undefined
    ? `allow it with kubectl annotate ${set}`
    : `allow it with kubectl annotate --overwrite ${set} (the annotation is ${showValue(value)}: only "true" counts)`;
}

export const deletionRules: readonly Rule[] = [
  {
    id: 'deletion-named-by-class',
    summary: 'No ClusterClass names a handler of an ExtensionConfig that is being deleted.',
    severity: 'deny',
    subjects: ['deletion'],
    needs: 'facts',
    check({ object, facts }, report) {
      const { name = '' } = object.metadata;
      const references = referencesTo(name, facts ?? {});
      if (references === undefined || references.length === 0 || isDeletionAllowed(object.metadata)) {
        return;
      }
      report({
        path: ['metadata', 'name'],
        reason: 'FieldValueForbidden',
        message: `cannot be deleted, because its handlers are named by ${someReferences(references)}: their Clusters would stop reconciling; remove them there first, or ${howToAllowDeletion(object.metadata)}`,
      });
    },
  },
  {
    id: 'deletion-awaited-by-cluster',
    summary: 'No Cluster waits for a hook of an ExtensionConfig that is being deleted.',
    severity: 'deny',
    subjects: ['deletion'],
    needs: 'facts',
    check({ object, handlers, facts }, report) {
      if (facts?.clusters === undefined || isDeletionAllowed(object.metadata)) {
        return;
      }
      const selector = object.spec?.namespaceSelector;
      const hooks = new Set(handlers.flatMap(({ hook }) => (hook?.group === hooksGroup ? [hook.name] : [])));
      for (const hook of hooks) {
        const waiting = someClusters(
          [...facts.clusters.values()].filter(({ pending }) => pending.includes(hook)),
          selector,
          facts,
        );
        if (waiting !== undefined) {
          report({
            path: ['metadata', 'name'],
            reason: 'FieldValueForbidden',
            value: hook,
            message: `cannot be deleted, because its hook ${hook} is still pending for ${waiting}; wait until their annotation runtime.cluster.x-k8s.io/pending-hooks is gone, or ${howToAllowDeletion(object.metadata)}`,
          });
        }
      }
    },
  },
];
