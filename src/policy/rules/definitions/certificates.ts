import { isDeepStrictEqual } from 'node:util';
import { type ExtensionConfig, injectCaFromSecretAnnotation, kind } from '../../../extensionconfig/index.ts';
import { namespacedNameIn } from '../../../kubernetes/index.ts';
import {
  type BundledCertificate,
  caBundlePath,
  expiryNoticeMs,
  isServiceDefined,
  namedSecret,
  namedService,
  secretAnnotationPath,
  usableSecret,
} from '../fields.ts';
import { someOf } from '../related.ts';
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
      for (const certificate of caBundle?.certificates ?? []) {
        const problem = problemOf(certificate, now.getTime());
        if (problem !== undefined) {
          report({ path: caBundlePath, message: `the certificate of ${certificate.subject} ${problem}` });
        }
      }
    },
  };
}

/** The annotations of cert-manager's CA injector, which knows webhooks, CustomResourceDefinitions and APIServices. */
const certManagerAnnotations = [
  'cert-manager.io/inject-ca-from',
  'cert-manager.io/inject-ca-from-secret',
  'cert-manager.io/inject-apiserver-ca',
];

const isInjected = (object: ExtensionConfig | undefined) =>
  Boolean(object?.metadata.annotations?.[injectCaFromSecretAnnotation]);

export const certificateRules: readonly Rule[] = [
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
      // Known when it was written, and not changed since: by a label, for example.
      const isKnown = isDeepStrictEqual(oldObject?.spec?.clientConfig, clientConfig) && !isInjected(oldObject);
      if (isComplete && caBundle === undefined && !isInjected(object) && !isKnown) {
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
      // With the annotation in place, the controller fills caBundle, and renews it when the Secret changes: that write must
      // not be warned about, and neither must any later one, which carries both.
      const isUnchanged = oldObject?.spec?.clientConfig?.caBundle === object.spec?.clientConfig?.caBundle;
      if (caBundle !== undefined && isInjected(object) && !isInjected(oldObject) && !isUnchanged) {
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
  {
    id: 'cert-manager-annotation',
    summary: "No annotation of cert-manager's CA injector is set; it does not know ExtensionConfigs.",
    severity: 'warn',
    check({ object }, report) {
      for (const name of certManagerAnnotations) {
        if (object.metadata.annotations?.[name] !== undefined) {
          report({
            path: ['metadata', 'annotations', name],
            reason: 'FieldValueForbidden',
            message: `cert-manager does not inject CAs into ${kind}s: write ${injectCaFromSecretAnnotation} with the NAMESPACE/NAME of the Certificate's Secret instead`,
          });
        }
      }
    },
  },
  {
    id: 'inject-annotation',
    summary: 'The annotation that injects the CA from a Secret names that Secret as NAMESPACE/NAME.',
    severity: 'deny',
    check({ object }, report) {
      const value = object.metadata.annotations?.[injectCaFromSecretAnnotation];
      if (typeof value === 'string' && namespacedNameIn(value) === undefined) {
        const message =
          'must be the NAMESPACE/NAME of a Secret with the CA in ca.crt (e.g. capi-extensions/my-extension-cert)';
        report({ path: secretAnnotationPath, value, message });
      }
    },
  },
  {
    id: 'certificate-secret',
    summary:
      "cert-manager's Certificate for the Service is stored in the Secret that the annotation names. (For manifests.)",
    severity: 'warn',
    needs: 'facts',
    check({ object, facts }, report) {
      const service = namedService(object);
      const secret = namedSecret(object, facts);
      const certificates = (service && facts?.certificates?.get(`${service.name}.${service.namespace}.svc`)) ?? [];
      const [first] = certificates;
      if (first !== undefined && secret && certificates.every((certificate) => certificate.secret !== secret.key)) {
        report({
          path: secretAnnotationPath,
          value: secret.key,
          message: `the Service's Certificate ${first.key} is stored in Secret ${first.secret} (spec.secretName): name that`,
        });
      }
    },
  },
  {
    id: 'secret-missing',
    summary: 'The Secret that the annotation names exists, and has a CA in ca.crt.',
    severity: 'warn',
    needs: 'facts',
    check({ object, facts }, report) {
      const { namespace, name, key, found } = namedSecret(object, facts) ?? {};
      const problem = found === 'absent' ? 'does not exist' : found?.problem;
      if (problem !== undefined) {
        report({
          path: secretAnnotationPath,
          reason: found === 'absent' ? 'FieldValueNotFound' : 'FieldValueInvalid',
          value: key,
          message: `this Secret ${problem}; Cluster API will not report this: look with kubectl -n ${namespace} describe secret ${name}`,
        });
      }
    },
  },
  {
    id: 'secret-not-signer',
    summary: 'The CA in the Secret that the annotation names signed the certificate in the same Secret.',
    severity: 'warn',
    needs: 'facts',
    check({ object, facts }, report) {
      const secret = usableSecret(object, facts);
      if (secret?.found.isSigner === false) {
        report({
          path: secretAnnotationPath,
          value: secret.key,
          message: `ca.crt of this Secret did not sign its tls.crt, so calls fail if the server serves that: compare them, kubectl -n ${secret.namespace} get secret ${secret.name} -o yaml`,
        });
      }
    },
  },
  {
    id: 'secret-expiring',
    summary: 'No CA in a Secret that several ExtensionConfigs name expires within 30 days.',
    severity: 'warn',
    needs: 'facts',
    check({ object, facts, now }, report) {
      const secret = usableSecret(object, facts);
      if (
        facts?.extensionConfigs === undefined ||
        secret === undefined ||
        secret.found.firstNotAfter >= now.getTime() + expiryNoticeMs
      ) {
        return;
      }
      const users = [...facts.extensionConfigs.values()].filter((config) => config.secret === secret.key);
      const others = users.map(({ name }) => name).filter((name) => name !== object.metadata.name);
      if (others.length > 0) {
        const end = new Date(secret.found.firstNotAfter).toISOString();
        report({
          path: secretAnnotationPath,
          value: secret.key,
          message: `a CA in this Secret expires on ${end}, and then calls to ${someOf(others)} fail too; add its successor to ca.crt now`,
        });
      }
    },
  },
  {
    id: 'ca-bundle-outdated',
    summary: 'caBundle is not older than the CA in the Secret that the annotation names.',
    severity: 'warn',
    needs: 'facts',
    check({ object, facts, caBundle }, report) {
      const secret = usableSecret(object, facts);
      const dates = caBundle?.certificates.map(({ notBefore }) => notBefore) ?? [];
      if (secret !== undefined && dates.length > 0 && Math.max(...dates) < secret.found.newestNotBefore) {
        report({
          path: caBundlePath,
          message: `is older than ca.crt of Secret ${secret.key}, which Cluster API has not injected yet: check whether the object is paused, and the log of its controller`,
        });
      }
    },
  },
];
