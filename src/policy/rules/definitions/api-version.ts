import {
  apiVersionOf,
  group,
  hubVersion,
  isExtensionConfig,
  kind,
  versionOf,
  versions,
} from '../../../extensionconfig/index.ts';
import { hookCatalog, phaseIn } from '../../../runtimehooks/index.ts';
import type { Rule } from '../rule.ts';

export const apiVersionRules: readonly Rule[] = [
  {
    id: 'api-version-unknown',
    summary: 'The API version exists. (For the linter.)',
    severity: 'deny',
    upstream: true,
    // A webhook only sees versions that the API server serves.
    needs: 'manifest',
    check({ object }, report) {
      if (isExtensionConfig(object) && versionOf(object.apiVersion) === undefined) {
        report({
          path: ['apiVersion'],
          reason: 'FieldValueNotSupported',
          value: object.apiVersion,
          message: `is not a version of ${kind}; write ${versions.map(apiVersionOf).toReversed().join(' or ')}`,
        });
      }
    },
  },
  {
    id: 'api-group',
    summary: 'The API group is runtime.cluster.x-k8s.io. (For the linter.)',
    severity: 'deny',
    needs: 'manifest',
    check({ object }, report) {
      if (!isExtensionConfig(object)) {
        report({
          path: ['apiVersion'],
          reason: 'FieldValueNotSupported',
          value: object.apiVersion,
          message: `${kind} is a kind of ${group}; write ${apiVersionOf(hubVersion)}`,
        });
      }
    },
  },
  {
    id: 'api-version-deprecated',
    summary: 'The API version is not deprecated.',
    severity: 'warn',
    subjects: ['object', 'status'],
    check({ writtenAs }, report, { hooks = hookCatalog, clusterApi }) {
      // The storage version is the one to write.
      if (writtenAs === hubVersion) {
        return;
      }
      const lifecycle = hooks.find(group, writtenAs, kind);
      if (lifecycle === undefined || !['deprecated', 'removed'].includes(phaseIn(lifecycle, clusterApi))) {
        return;
      }
      const instead = lifecycle.replacedBy;
      // Word for word the API server's own warning about a version that the CRD marks deprecated: kubectl prints it once.
      const message = `${group}/${writtenAs} ${kind} is deprecated${instead === undefined ? '' : `; use ${instead.group}/${instead.version} ${instead.name}`}`;
      report({ path: ['apiVersion'], message, verbatim: true });
    },
  },
];
