import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { exampleForeignSecret, exampleSecret } from '../examples/cluster.ts';
import { example } from '../examples/manifest.ts';
import { secretAnnotationPath, usableSecret } from '../fields/secret.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'secret-not-signer',
  summary: 'The CA in the Secret that the annotation names signed the certificate in the same Secret.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, facts }, report) {
    const secret = usableSecret(object, facts);
    if (secret?.found.isSigner !== false) {
      return;
    }
    const { namespace, name, key } = secret;
    report({
      path: secretAnnotationPath,
      reason: 'FieldValueInvalid',
      value: key,
      message: `ca.crt of this Secret did not sign its tls.crt, so calls fail if the server serves that: compare them, kubectl -n ${namespace} get secret ${name} -o yaml`,
    });
  },
  example: {
    context: [exampleSecret(), exampleSecret(exampleForeignSecret, 'mixed')],
    bad: example({ annotations: { [injectCaFromSecretAnnotation]: 'capi-extensions/mixed' } }),
    good: example(),
  },
};
