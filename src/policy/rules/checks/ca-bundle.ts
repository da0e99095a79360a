import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import {
  exampleCaBundle,
  exampleCaBundleWithKey,
  exampleExpiredCaBundle,
  exampleFutureCaBundle,
  exampleServingCertificate,
} from '../examples/certificates.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundleOf, caBundlePath, certificatesOf } from '../fields/ca-bundle.ts';
import { isServiceDefined } from '../fields/service.ts';
import type { Rule } from '../rule.ts';

/** How long before its expiry a certificate is reported, in milliseconds: 30 days. */
const notice = 30 * 24 * 60 * 60 * 1000;

export const caBundleRules: readonly Rule[] = [
  {
    id: 'ca-bundle-pem',
    summary: 'caBundle is the base64 of PEM certificates.',
    severity: 'deny',
    about: 'caBundle',
    check({ object }, report) {
      const problem = caBundleOf(object)?.problem;
      if (problem !== undefined) {
        // The value is not shown: it is long, and may be a secret that got here by mistake.
        const message = `${problem}; put the base64 of the CA's PEM file (-----BEGIN CERTIFICATE-----) here, as "base64 -w0 ca.crt" prints it`;
        report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
      }
    },
    example: {
      bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: 'bXktY2EK' } }),
      good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
    },
  },
  {
    id: 'ca-bundle-private-key',
    summary: 'caBundle contains no private key.',
    severity: 'deny',
    about: 'caBundle',
    check({ object }, report) {
      if (caBundleOf(object)?.hasPrivateKey) {
        const message =
          'contains a private key, which everyone with read access to this object can now read; replace that key, and put only certificates here';
        report({ path: caBundlePath, reason: 'FieldValueForbidden', message });
      }
    },
    example: {
      bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundleWithKey } }),
      good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
    },
  },
  {
    id: 'ca-missing',
    summary: 'The object has a caBundle, or the annotation that injects one.',
    severity: 'warn',
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
  },
  {
    id: 'ca-bundle-and-annotation',
    summary: 'The object does not set caBundle and the annotation that injects it at the same time.',
    severity: 'warn',
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
  },
  {
    id: 'ca-certificate-expired',
    summary: 'No certificate in caBundle has expired.',
    severity: 'warn',
    about: 'caBundle',
    check({ object, now }, report) {
      for (const { subject, notAfter } of certificatesOf(object)) {
        if (notAfter < now.getTime()) {
          const message = `the certificate of ${subject} expired on ${new Date(notAfter).toISOString()}; put its successor here`;
          report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
        }
      }
    },
    example: {
      bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleExpiredCaBundle } }),
      good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
    },
  },
  {
    id: 'ca-certificate-not-yet-valid',
    summary: 'The validity of every certificate in caBundle has begun.',
    severity: 'warn',
    about: 'caBundle',
    check({ object, now }, report) {
      for (const { subject, notBefore } of certificatesOf(object)) {
        if (notBefore > now.getTime()) {
          const message = `the certificate of ${subject} is not valid before ${new Date(notBefore).toISOString()}; check the clocks, or put the current one here`;
          report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
        }
      }
    },
    example: {
      bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleFutureCaBundle } }),
      good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
    },
  },
  {
    id: 'ca-certificate-expiring',
    summary: 'No certificate in caBundle expires within 30 days.',
    severity: 'warn',
    about: 'caBundle',
    check({ object, now }, report) {
      for (const { subject, notAfter } of certificatesOf(object)) {
        if (notAfter >= now.getTime() && notAfter < now.getTime() + notice) {
          const message = `the certificate of ${subject} expires on ${new Date(notAfter).toISOString()}; add its successor next to it now`;
          report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
        }
      }
    },
    example: {
      bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleExpiredCaBundle } }),
      good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
      // 17 days before the certificate expires.
      checkedAt: new Date('2020-12-15T00:00:00Z'),
    },
  },
  {
    id: 'ca-certificate-not-ca',
    summary: 'Every certificate in caBundle is a CA certificate.',
    severity: 'warn',
    about: 'caBundle',
    check({ object }, report) {
      for (const { subject, isCa } of certificatesOf(object)) {
        if (!isCa) {
          const message = `the certificate of ${subject} is not a CA certificate; put the certificate of the CA that signed the serving certificate here`;
          report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
        }
      }
    },
    example: {
      bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleServingCertificate } }),
      good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
    },
  },
];
