import { injectCaFromSecretAnnotation } from '../../api/index.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../kubernetes/index.ts';
import { example } from '../examples/index.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'inject-annotation',
  summary: 'The annotation that injects the CA of a Secret names it as NAMESPACE/NAME.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  check({ object }, report) {
    const value = object.metadata.annotations?.[injectCaFromSecretAnnotation];
    if (typeof value !== 'string') {
      return;
    }
    const [namespace = '', name = '', ...rest] = value.split('/');
    if (rest.length > 0 || dns1123LabelProblems(namespace).length > 0 || dns1123SubdomainProblems(name).length > 0) {
      report({
        path: ['metadata', 'annotations', injectCaFromSecretAnnotation],
        reason: 'FieldValueInvalid',
        value,
        message:
          'must be NAMESPACE/NAME of a Secret that has the CA in ca.crt (e.g. capi-extensions/my-extension-cert)',
      });
    }
  },
  example: {
    bad: example({ annotations: { [injectCaFromSecretAnnotation]: 'my-extension-cert' } }),
    good: example({ annotations: { [injectCaFromSecretAnnotation]: 'capi-extensions/my-extension-cert' } }),
  },
};
