import { allowDeletionAnnotation } from '../../../extensionconfig/index.ts';
import { exampleClass } from '../examples/cluster.ts';
import { example } from '../examples/manifest.ts';
import { howToAllowDeletion, isDeletionAllowed } from '../fields/allow-deletion.ts';
import { someReferences } from '../related.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'deletion-named-by-class',
  summary: 'No ClusterClass names a handler of an ExtensionConfig that is being deleted.',
  severity: 'deny',
  upstream: false,
  subjects: ['deletion'],
  about: 'facts',
  check({ object, facts }, report) {
    const { name = '' } = object.metadata;
    const references = facts?.clusterClasses?.namingExtension(name);
    if (references === undefined || references.size === 0 || isDeletionAllowed(object.metadata)) {
      return;
    }
    report({
      path: ['metadata', 'name'],
      reason: 'FieldValueForbidden',
      message: `cannot be deleted, because its handlers are named by ${someReferences(references)}: their Clusters would stop reconciling; remove them there first, or ${howToAllowDeletion(object.metadata)}`,
    });
  },
  example: {
    subject: 'deletion',
    context: [exampleClass()],
    bad: example(),
    good: example({ annotations: { [allowDeletionAnnotation]: 'true' } }),
  },
};
