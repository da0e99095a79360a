import { isDeepStrictEqual } from 'node:util';
import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { type BundledCertificate, caBundlePath, expiryNoticeMs } from '../fields/ca-bundle.ts';
import { isServiceDefined } from '../fields/service.ts';
import type { Rule } from '../rule.ts';

/** A rule about each certificate of a caBundle: `problemOf` says what is wrong with one, given the time in ms since 1970. */
function certificateRule({
  problemOf,
  ...rule
}: Pick<Rule, 'id' | 'summary'> & {
  problemOf(certificate: BundledCertificate, now: number): string | undefined;
}): Rule {
  return {
    ...rule,
    severity: 'warn',
    check({ caBundle, now }, report) {
      const nowMs = now.getTime();
      for (const certificate of caBundle?.certificates ?? []) {
        const problem = problemOf(certificate, nowMs);
        if (problem !== undefined) {
          const message = `the certificate of ${certificate.subject} ${problem}`;
          report({ path: caBundlePath, message });
        }
      }
    },
  };
}

export const caBundleRules: readonly Rule[] = [
  {
    id: 'ca-bundle-pem',
    summary: 'caBundle is the base64 of PEM certificates.',
    severity: 'deny',
    check({ caBundle }, report) {
      const problem = caBundle?.problem;
      if (problem !== undefined) {
        // The value is not shown: it is long, and may be a secret that got here by mistake.
        const message = `${problem}; put the base64 of the CA's PEM file (-----BEGIN CERTIFICATE-----) here, as "base64 -w0 ca.crt" prints it`;
        report({ path: caBundlePath, message });
      }
    },
  },
  {
    id: 'ca-bundle-private-key',
    summary: 'caBundle contains no private key.',
    severity: 'deny',
    check({ caBundle }, report) {
      if (caBundle?.hasPrivateKey) {
        const message =
          'contains a private key, which everyone with read access to this object can now read; replace that key, and put only certificates here';
        report({ path: caBundlePath, reason: 'FieldValueForbidden', message });
      }
    },
  },
  {
    id: 'ca-missing',
    summary: 'The object has a caBundle, or the annotation that injects one.',
    severity: 'warn',
    check({ object, oldObject, caBundle }, report) {
      const { clientConfig } = object.spec ?? {};
      const { caBundle: text, url, service } = clientConfig ?? {};
      // An empty caBundle, and an object without any server, are other rules' findings.
      const isComplete = text !== '' && (Boolean(url) || isServiceDefined(service));
      if (isComplete && caBundle === undefined && !object.metadata.annotations?.[injectCaFromSecretAnnotation]) {
        if (
          isDeepStrictEqual(oldObject?.spec?.clientConfig, clientConfig) &&
          !oldObject?.metadata.annotations?.[injectCaFromSecretAnnotation]
        ) {
          // Known when it was written, and not changed since: by a label, for example.
          return;
        }
        report({
          path: caBundlePath,
          reason: 'FieldValueRequired',
          message: `neither caBundle nor the annotation ${injectCaFromSecretAnnotation} is set; calls succeed only if a system-wide CA signed the serving certificate`,
        });
      }
    },
  },
  {
    id: 'ca-bundle-and-annotation',
    summary: 'caBundle and the annotation that injects it are not both set.',
    severity: 'warn',
    check({ object, oldObject, caBundle }, report) {
      if (caBundle === undefined || !object.metadata.annotations?.[injectCaFromSecretAnnotation]) {
        return;
      }
      // With the annotation in place, the controller fills caBundle, and renews it when the Secret changes: that write must
      // not be warned about, and neither must any later one, which carries both.
      const isInjected = Boolean(oldObject?.metadata.annotations?.[injectCaFromSecretAnnotation]);
      const isUnchanged = oldObject?.spec?.clientConfig?.caBundle === object.spec?.clientConfig?.caBundle;
      if (!isInjected && !isUnchanged) {
        report({
          path: caBundlePath,
          reason: 'FieldValueForbidden',
          message: `will be overwritten, because the annotation ${injectCaFromSecretAnnotation} injects the CA from its Secret; remove one of the two`,
        });
      }
    },
  },
  certificateRule({
    id: 'ca-certificate-expired',
    summary: 'No certificate in caBundle has expired.',
    problemOf: ({ notAfter }, now) =>
      notAfter < now ? `expired on ${new Date(notAfter).toISOString()}; put its successor here` : undefined,
  }),
  certificateRule({
    id: 'ca-certificate-not-yet-valid',
    summary: 'Every certificate in caBundle is already valid.',
    problemOf: ({ notBefore }, now) =>
      notBefore > now
        ? `is not valid before ${new Date(notBefore).toISOString()}; check the clocks, or put the current one here`
        : undefined,
  }),
  certificateRule({
    id: 'ca-certificate-expiring',
    summary: 'No certificate in caBundle expires within 30 days.',
    problemOf: ({ notAfter }, now) =>
      notAfter >= now && notAfter < now + expiryNoticeMs
        ? `expires on ${new Date(notAfter).toISOString()}; add its successor next to it now`
        : undefined,
  }),
  certificateRule({
    id: 'ca-certificate-not-ca',
    summary: 'Every certificate in caBundle is a CA certificate.',
    problemOf: ({ isCa }) =>
      isCa
        ? undefined
        : 'is not a CA certificate; put the certificate of the CA that signed the serving certificate here',
  }),
];
