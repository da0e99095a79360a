import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { exampleCaBundle, exampleFutureCaBundle } from '../examples/certificates.ts';
import { exampleSecret } from '../examples/cluster.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundlePath, certificatesOf } from '../fields/ca-bundle.ts';
import { usableSecret } from '../fields/secret.ts';
import type { Rule } from '../rule.ts';

const injected = { service: exampleService, caBundle: exampleCaBundle };

export const rule: Rule = {
  id: 'ca-bundle-outdated',
  summary: 'caBundle is not older than the CA in the Secret that the annotation names.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, facts }, report) {
    const secret = usableSecret(object, facts);
    if (secret === undefined) {
      return;
    }
    const dates = certificatesOf(object).map(({ notBefore }) => notBefore);
    if (dates.length > 0 && Math.max(...dates) < secret.found.newestNotBefore) {
      report({
        path: caBundlePath,
        reason: 'FieldValueInvalid',
        message: `is older than ca.crt of Secret ${secret.key}, which Cluster API has not injected yet: check whether the object is paused, and the log of its controller`,
      });
    }
  },
  example: {
    context: [exampleSecret({ 'ca.crt': exampleFutureCaBundle }), exampleSecret({ 'ca.crt': exampleCaBundle }, 'old')],
    old: example({ clientConfig: injected }),
    bad: example({ clientConfig: injected }),
    good: example({ annotations: { [injectCaFromSecretAnnotation]: 'capi-extensions/old' }, clientConfig: injected }),
  },
};
