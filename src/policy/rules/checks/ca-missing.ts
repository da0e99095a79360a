import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { example } from '../examples/manifest.ts';
import { caBundleOf, caBundlePath } from '../fields/ca-bundle.ts';
import { isServiceDefined } from '../fields/service.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-missing',
  summary: 'The object has a caBundle, or the annotation that injects one.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  check({ object }, report) {
    const { caBundle, url, service } = object.spec?.clientConfig ?? {};
    // An empty caBundle, and an object without any server, are other rules' findings.
    const isComplete = caBundle !== '' && (Boolean(url) || isServiceDefined(service));
    if (
      isComplete &&
      caBundleOf(object) === undefined &&
      !object.metadata.annotations?.[injectCaFromSecretAnnotation]
    ) {
      report({
        path: caBundlePath,
        reason: 'FieldValueRequired',
        message: `neither caBundle nor the annotation ${injectCaFromSecretAnnotation} is set; calls succeed only if a system-wide CA signed the serving certificate`,
      });
    }
  },
  example: { bad: example({ annotations: {} }), good: example() },
};
