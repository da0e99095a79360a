import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { exampleCaBundle } from '../examples/certificates.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundleOf, caBundlePath } from '../fields/ca-bundle.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-bundle-and-annotation',
  summary: 'The object does not set caBundle and the annotation that injects it at the same time.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object, oldObject }, report) {
    const caBundle = object.spec?.clientConfig?.caBundle;
    if (caBundleOf(object) === undefined || !object.metadata.annotations?.[injectCaFromSecretAnnotation]) {
      return;
    }
    // With the annotation in place, the controller fills caBundle, and renews it when the Secret changes: that write must
    // not be warned about, and neither must any later one, which carries both.
    const old = oldObject?.();
    const isInjected = Boolean(old?.metadata.annotations?.[injectCaFromSecretAnnotation]);
    const isUnchanged = old?.spec?.clientConfig?.caBundle === caBundle;
    if (!isInjected && !isUnchanged) {
      report({
        path: caBundlePath,
        reason: 'FieldValueForbidden',
        message: `will be overwritten, because the annotation ${injectCaFromSecretAnnotation} injects the CA from its Secret; remove one of the two`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
