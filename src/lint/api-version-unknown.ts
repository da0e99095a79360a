import { apiVersionOf, hubVersion, kind, versionOf, versions } from '../api/index.ts';
import type { JsonObject } from '../kubernetes/index.ts';
import type { Rule } from '../rules/index.ts';

const example: JsonObject = {
  apiVersion: apiVersionOf(hubVersion),
  kind,
  metadata: {
    name: 'my-extension',
    annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'capi-extensions/my-extension-cert' },
  },
  spec: {
    clientConfig: { service: { namespace: 'capi-extensions', name: 'my-extension', port: 443 } },
    namespaceSelector: {},
  },
};

/** The linter's own rule: no webhook ever sees such an object, since the API server does not know where to put it. */
export const apiVersionUnknown: Rule = {
  id: 'api-version-unknown',
  summary: 'The API version is one that the API has. (The API server refuses others before any webhook sees them.)',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  check({ object }, report) {
    if (versionOf(object.apiVersion) === undefined) {
      report({
        path: ['apiVersion'],
        reason: 'FieldValueNotSupported',
        value: object.apiVersion,
        message: `is no version of ${kind}; write ${versions.map(apiVersionOf).toReversed().join(' or ')}`,
      });
    }
  },
  example: { bad: { ...example, apiVersion: 'runtime.cluster.x-k8s.io/v1beta1' }, good: example },
};
