import { example, exampleService } from '../example.ts';
import type { Rule } from '../rule.ts';
import { clientUrlOf, showableUrl, urlPath } from '../url.ts';

const clusterHost = /(^|\.)svc(\.cluster\.local)?$/;

export const rule: Rule = {
  id: 'url-cluster-host',
  summary: 'The host in url is not a Service of the cluster; service names those.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'url',
  check({ object }, report) {
    const hostname = clientUrlOf(object)?.hostname ?? '';
    if (clusterHost.test(hostname)) {
      const [name, namespace] = hostname.split('.');
      report({
        path: urlPath,
        reason: 'FieldValueInvalid',
        value: showableUrl(object.spec?.clientConfig?.url ?? ''),
        message: `names a Service of the cluster; use service with name ${name} and namespace ${namespace} instead of url`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https://my-extension.capi-extensions.svc' } }),
    good: example({ clientConfig: { service: exampleService } }),
  },
};
