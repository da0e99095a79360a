import { allowDeletionAnnotation } from '../../api/index.ts';
import { hooksGroup } from '../../hooks/index.ts';
import { example, exampleCluster } from '../examples/index.ts';
import { handlersOf, howToAllowDeletion, isDeletionAllowed, namespaceSelectorOf } from '../fields/index.ts';
import { someClusters } from '../related.ts';
import type { Rule } from '../rule.ts';

const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'AfterClusterUpgrade' };

export const rule: Rule = {
  id: 'deletion-awaited-by-cluster',
  summary: 'No Cluster waits for a hook of an ExtensionConfig that is being deleted.',
  severity: 'deny',
  upstream: false,
  subjects: ['deletion'],
  about: 'facts',
  check({ object, facts }, report) {
    if (facts?.clusters === undefined || isDeletionAllowed(object.metadata)) {
      return;
    }
    const selector = namespaceSelectorOf(object);
    const hooks = new Set(handlersOf(object).flatMap(({ hook }) => (hook?.group === hooksGroup ? [hook.name] : [])));
    for (const hook of hooks) {
      const waiting = someClusters(facts.clusters.waitingFor(hook), selector, facts);
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
  example: {
    subject: 'deletion',
    context: [exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' })],
    bad: example({ handler: { requestHook } }),
    good: example({ handler: { requestHook }, annotations: { [allowDeletionAnnotation]: 'true' } }),
  },
};
