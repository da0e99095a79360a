import { injectCaFromSecretAnnotation, secretNameOf } from '../../../extensionconfig/index.ts';
import { example } from '../examples/manifest.ts';
import { secretAnnotationPath } from '../fields/secret.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'inject-annotation',
  summary: 'The annotation that injects the CA from a Secret names that Secret as NAMESPACE/NAME.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  check({ object }, report) {
    const value = object.metadata.annotations?.[injectCaFromSecretAnnotation];
    if (typeof value === 'string' && secretNameOf(value) === undefined) {
      report({
        path: secretAnnotationPath,
        reason: 'FieldValueInvalid',
        value,
        message:
          'must be the NAMESPACE/NAME of a Secret with the CA in ca.crt (e.g. capi-extensions/my-extension-cert)',
      });
    }
  },
  example: {
    bad: example({ annotations: { [injectCaFromSecretAnnotation]: 'my-extension-cert' } }),
    good: example({ annotations: { [injectCaFromSecretAnnotation]: 'capi-extensions/my-extension-cert' } }),
  },
};
