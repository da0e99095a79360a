import { injectCaFromSecretAnnotation } from '../../api/index.ts';
import { caBundleOf, caBundlePath } from '../ca-bundle.ts';
import { example, exampleCaBundle, exampleService } from '../examples/index.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-bundle-and-annotation',
  summary: 'The object does not set caBundle and the annotation that injects it at the same time.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object, oldObject }, report) {
    if (caBundleOf(object) === undefined || !object.metadata.annotations?.[injectCaFromSecretAnnotation]) {
      return;
    }
    // Once the bundle has been injected, every later update carries both; only a changed bundle is reported.
    const isUnchanged = oldObject?.().spec?.clientConfig?.caBundle === object.spec?.clientConfig?.caBundle;
    if (!isUnchanged) {
      report({
        path: caBundlePath,
        reason: 'FieldValueForbidden',
        message: `will be overwritten, since the annotation ${injectCaFromSecretAnnotation} injects the CA of its Secret; remove one of them`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
