import { exampleClass } from '../examples/cluster.ts';
import { example, exampleHandler } from '../examples/manifest.ts';
import { handlersOf } from '../fields/handlers.ts';
import { someReferences } from '../related.ts';
import type { Rule } from '../rule.ts';

const generate = exampleHandler({
  name: 'generate.my-extension',
  requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'GeneratePatches' },
});

export const rule: Rule = {
  id: 'handler-named-by-class',
  summary: 'A status update does not remove a handler that a ClusterClass names.',
  severity: 'warn',
  upstream: false,
  subjects: ['status'],
  about: 'facts',
  check({ object, oldObject, facts }, report) {
    const references = facts?.clusterClasses?.namingExtension(object.metadata.name ?? '');
    if (references === undefined || oldObject === undefined) {
      return;
    }
    const offered = new Set(handlersOf(object).map(({ handler }) => handler.name));
    const missing = [...references].filter(({ handler }) => !offered.has(handler));
    // Then the old object need not be decoded.
    if (missing.length === 0) {
      return;
    }
    const before = new Set(handlersOf(oldObject()).map(({ handler }) => handler.name));
    const dropped = Map.groupBy(
      missing.filter(({ handler }) => before.has(handler)),
      ({ handler }) => handler,
    );
    for (const [handler, places] of dropped) {
      report({
        path: ['status', 'handlers'],
        reason: 'FieldValueRequired',
        value: handler,
        message: `is no longer served, but is still named by ${someReferences(places)}, whose Clusters now fail; serve it again, or change the ClusterClass`,
      });
    }
  },
  example: {
    subject: 'status',
    context: [exampleClass('generate.my-extension')],
    old: example({ handlers: [generate, exampleHandler()] }),
    bad: example({ handlers: [exampleHandler()] }),
    good: example({ handlers: [generate] }),
  },
};
