import { group, hubVersion, kind } from '../../../extensionconfig/index.ts';
import { phaseIn } from '../../../runtimehooks/index.ts';
import { example } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'api-version-deprecated',
  summary: 'The object is written in an API version that is not deprecated.',
  severity: 'warn',
  upstream: false,
  subjects: ['object', 'status'],
  check({ writtenAs }, report, { hooks, clusterApi }) {
    // The storage version is the one to write.
    if (writtenAs === hubVersion) {
      return;
    }
    const life = hooks.find(group, writtenAs, kind);
    if (life === undefined || !['deprecated', 'removed'].includes(phaseIn(life, clusterApi))) {
      return;
    }
    const instead = life.replacedBy;
    // Word for word the API server's own warning about a version that the CRD marks deprecated: kubectl prints it once.
    const message = `${group}/${writtenAs} ${kind} is deprecated${instead === undefined ? '' : `; use ${instead.group}/${instead.version} ${instead.name}`}`;
    report({ path: ['apiVersion'], reason: 'FieldValueInvalid', message, verbatim: true });
  },
  example: {
    bad: example({ apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1' }),
    good: example({ apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' }),
  },
};
