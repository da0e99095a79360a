import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { exampleExpiredCaBundle } from '../examples/certificates.ts';
import { exampleSecret } from '../examples/cluster.ts';
import { example } from '../examples/manifest.ts';
import { secretAnnotationPath, usableSecret } from '../fields/secret.ts';
import { someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

/** How long before its expiry a shared CA is reported, in milliseconds: 30 days. */
const notice = 30 * 24 * 60 * 60 * 1000;

const shared = { [injectCaFromSecretAnnotation]: 'capi-extensions/old' };

export const rule: Rule = {
  id: 'secret-expiring',
  summary: 'No CA in a Secret that several ExtensionConfigs name expires within 30 days.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, facts, now }, report) {
    const secret = usableSecret(object, facts);
    if (
      facts?.extensionConfigs === undefined ||
      secret === undefined ||
      secret.found.firstNotAfter >= now.getTime() + notice
    ) {
      return;
    }
    const others = Array.from(facts.extensionConfigs.bySecret(secret.key), ({ name }) => name).filter(
      (name) => name !== object.metadata.name,
    );
    if (others.length > 0) {
      const end = new Date(secret.found.firstNotAfter).toISOString();
      report({
        path: secretAnnotationPath,
        reason: 'FieldValueInvalid',
        value: secret.key,
        message: `a CA in this Secret expires on ${end}, and then calls to ${someOf(others)} fail too; add its successor to ca.crt now`,
      });
    }
  },
  example: {
    context: [
      exampleSecret({ 'ca.crt': exampleExpiredCaBundle }, 'old'),
      example({ name: 'other', annotations: shared, clientConfig: { url: 'https://other.example.com' } }),
    ],
    bad: example({ annotations: shared }),
    good: example(),
    // 17 days before the certificate expires.
    checkedAt: new Date('2020-12-15T00:00:00Z'),
  },
};
