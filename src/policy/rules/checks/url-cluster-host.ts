import { example, exampleService } from '../examples/manifest.ts';
import { clientUrlOf, showableUrl, urlPath } from '../fields/url.ts';
import type { Rule } from '../rule.ts';

const clusterHost = /(^|\.)svc(\.cluster\.local)?$/;

export const rule: Rule = {
  id: 'url-cluster-host',
  summary: 'The host in url is not a Service in the cluster; use service for those.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const url = clientUrlOf(object);
    if (url !== undefined && clusterHost.test(url.hostname)) {
      // A Service has at least its name and its namespace before ".svc"; the host "svc" has neither.
      const [name, namespace] = url.hostname.split('.');
      const remedy =
        name === 'svc' || namespace === 'svc'
          ? 'use service with the name and namespace of the Service'
          : `use service with name ${name} and namespace ${namespace}`;
      report({
        path: urlPath,
        reason: 'FieldValueInvalid',
        value: showableUrl(url.text),
        message: `is a Service in the cluster; ${remedy} instead of url`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https://my-extension.capi-extensions.svc' } }),
    good: example({ clientConfig: { service: exampleService } }),
  },
};
