// Every rule, in the order of the documentation. A new rule is a file in checks/ and a line here.
import { rule as apiGroup } from './checks/api-group.ts';
import { rule as apiVersionDeprecated } from './checks/api-version-deprecated.ts';
import { rule as apiVersionUnknown } from './checks/api-version-unknown.ts';
import { rule as caBundleAndAnnotation } from './checks/ca-bundle-and-annotation.ts';
import { rule as caBundleOutdated } from './checks/ca-bundle-outdated.ts';
import { rule as caBundlePem } from './checks/ca-bundle-pem.ts';
import { rule as caBundlePrivateKey } from './checks/ca-bundle-private-key.ts';
import { rule as caCertificateExpired } from './checks/ca-certificate-expired.ts';
import { rule as caCertificateExpiring } from './checks/ca-certificate-expiring.ts';
import { rule as caCertificateNotCa } from './checks/ca-certificate-not-ca.ts';
import { rule as caCertificateNotYetValid } from './checks/ca-certificate-not-yet-valid.ts';
import { rule as caMissing } from './checks/ca-missing.ts';
import { rule as clientConfigTarget } from './checks/client-config-target.ts';
import { rule as deletionAwaitedByCluster } from './checks/deletion-awaited-by-cluster.ts';
import { rule as deletionNamedByClass } from './checks/deletion-named-by-class.ts';
import { rule as failurePolicyBlocking } from './checks/failure-policy-blocking.ts';
import { rule as fieldType } from './checks/field-type.ts';
import { rule as handlerFailurePolicy } from './checks/handler-failure-policy.ts';
import { rule as handlerHookInPlace } from './checks/handler-hook-in-place.ts';
import { rule as handlerHookSingleton } from './checks/handler-hook-singleton.ts';
import { rule as handlerHookVersion } from './checks/handler-hook-version.ts';
import { rule as handlerName } from './checks/handler-name.ts';
import { rule as handlerNameUnique } from './checks/handler-name-unique.ts';
import { rule as handlerNamedByClass } from './checks/handler-named-by-class.ts';
import { rule as handlerTimeout } from './checks/handler-timeout.ts';
import { rule as hookTooNew } from './checks/hook-too-new.ts';
import { rule as hookUnknown } from './checks/hook-unknown.ts';
import { rule as hookVersionDeprecated } from './checks/hook-version-deprecated.ts';
import { rule as hookVersionRemoved } from './checks/hook-version-removed.ts';
import { rule as inPlaceHookTwice } from './checks/in-place-hook-twice.ts';
import { rule as injectAnnotation } from './checks/inject-annotation.ts';
import { rule as metadata } from './checks/metadata.ts';
import { rule as metadataNamespace } from './checks/metadata-namespace.ts';
import { rule as nameDnsLabel } from './checks/name-dns-label.ts';
import { rule as nameRepeated } from './checks/name-repeated.ts';
import { rule as namespaceSelector } from './checks/namespace-selector.ts';
import { rule as namespaceSelectorContradiction } from './checks/namespace-selector-contradiction.ts';
import { rule as namespaceSelectorExcludes } from './checks/namespace-selector-excludes.ts';
import { rule as notRendered } from './checks/not-rendered.ts';
import { rule as schemaLimits } from './checks/schema-limits.ts';
import { rule as secretExpiring } from './checks/secret-expiring.ts';
import { rule as secretMissing } from './checks/secret-missing.ts';
import { rule as secretNotSigner } from './checks/secret-not-signer.ts';
import { rule as serverRegisteredTwice } from './checks/server-registered-twice.ts';
import { rule as serviceMissing } from './checks/service-missing.ts';
import { rule as serviceName } from './checks/service-name.ts';
import { rule as serviceNamespace } from './checks/service-namespace.ts';
import { rule as servicePath } from './checks/service-path.ts';
import { rule as servicePathPlain } from './checks/service-path-plain.ts';
import { rule as servicePort } from './checks/service-port.ts';
import { rule as servicePortMissing } from './checks/service-port-missing.ts';
import { rule as settingsCredentials } from './checks/settings-credentials.ts';
import { rule as unknownField } from './checks/unknown-field.ts';
import { rule as urlClusterHost } from './checks/url-cluster-host.ts';
import { rule as urlFragment } from './checks/url-fragment.ts';
import { rule as urlHost } from './checks/url-host.ts';
import { rule as urlLocalHost } from './checks/url-local-host.ts';
import { rule as urlPort } from './checks/url-port.ts';
import { rule as urlQuery } from './checks/url-query.ts';
import { rule as urlUserInfo } from './checks/url-user-info.ts';
import { rule as urlValid } from './checks/url-valid.ts';
import type { Rule } from './rule.ts';

/** All rules: Cluster API's own first, then the stricter denials, then the warnings. */
export const rules: readonly Rule[] = [
  apiVersionUnknown,
  nameDnsLabel,
  fieldType,
  clientConfigTarget,
  urlValid,
  serviceName,
  serviceNamespace,
  servicePath,
  servicePort,
  namespaceSelector,
  urlUserInfo,
  urlQuery,
  urlFragment,
  urlHost,
  urlPort,
  servicePathPlain,
  caBundlePem,
  caBundlePrivateKey,
  injectAnnotation,
  handlerName,
  handlerNameUnique,
  handlerHookVersion,
  handlerTimeout,
  handlerFailurePolicy,
  handlerHookSingleton,
  hookVersionRemoved,
  schemaLimits,
  apiGroup,
  unknownField,
  metadata,
  notRendered,
  deletionNamedByClass,
  deletionAwaitedByCluster,
  apiVersionDeprecated,
  hookVersionDeprecated,
  hookUnknown,
  hookTooNew,
  failurePolicyBlocking,
  handlerHookInPlace,
  caMissing,
  caBundleAndAnnotation,
  caCertificateExpired,
  caCertificateNotYetValid,
  caCertificateExpiring,
  caCertificateNotCa,
  urlClusterHost,
  urlLocalHost,
  namespaceSelectorContradiction,
  settingsCredentials,
  metadataNamespace,
  nameRepeated,
  handlerNamedByClass,
  namespaceSelectorExcludes,
  serverRegisteredTwice,
  inPlaceHookTwice,
  serviceMissing,
  servicePortMissing,
  secretMissing,
  secretNotSigner,
  secretExpiring,
  caBundleOutdated,
];
