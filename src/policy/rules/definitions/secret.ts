import { injectCaFromSecretAnnotation, kind } from '../../../extensionconfig/index.ts';
import { namespacedNameIn } from '../../../kubernetes/index.ts';
import { caBundlePath, expiryNoticeMs } from '../fields/ca-bundle.ts';
import { namedSecret, secretAnnotationPath, usableSecret } from '../fields/secret.ts';
import { namedService } from '../fields/service.ts';
import { someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

/** The annotations of cert-manager's CA injector, which knows webhooks, CustomResourceDefinitions and APIServices. */
const certManagerAnnotations = [
  'cert-manager.io/inject-ca-from',
  'cert-manager.io/inject-ca-from-secret',
  'cert-manager.io/inject-apiserver-ca',
];

export const secretRules: readonly Rule[] = [
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
        report({
          path: secretAnnotationPath,
          value,
          message:
            'must be the NAMESPACE/NAME of a Secret with the CA in ca.crt (e.g. capi-extensions/my-extension-cert)',
        });
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
      if (service === undefined || secret === undefined) {
        return;
      }
      const certificates = facts?.certificates?.get(`${service.name}.${service.namespace}.svc`) ?? [];
      const [first] = certificates;
      if (first !== undefined && certificates.every((certificate) => certificate.secret !== secret.key)) {
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
      const secret = namedSecret(object, facts);
      if (secret?.found === undefined) {
        return;
      }
      const { namespace, name, key, found } = secret;
      const problem = found === 'absent' ? 'does not exist' : found.problem;
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
      if (secret?.found.isSigner !== false) {
        return;
      }
      const { namespace, name, key } = secret;
      report({
        path: secretAnnotationPath,
        value: key,
        message: `ca.crt of this Secret did not sign its tls.crt, so calls fail if the server serves that: compare them, kubectl -n ${namespace} get secret ${name} -o yaml`,
      });
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
      const others = facts.extensionConfigs
        .values()
        .filter((config) => config.secret === secret.key && config.name !== object.metadata.name)
        .map(({ name }) => name)
        .toArray();
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
      if (secret === undefined) {
        return;
      }
      const dates = caBundle?.certificates.map(({ notBefore }) => notBefore) ?? [];
      if (dates.length > 0 && Math.max(...dates) < secret.found.newestNotBefore) {
        report({
          path: caBundlePath,
          message: `is older than ca.crt of Secret ${secret.key}, which Cluster API has not injected yet: check whether the object is paused, and the log of its controller`,
        });
      }
    },
  },
];
