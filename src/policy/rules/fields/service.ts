import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import { dns1035LabelProblems, dns1123LabelProblems } from '../../../kubernetes/index.ts';

export type Service = NonNullable<NonNullable<NonNullable<ExtensionConfig['spec']>['clientConfig']>['service']>;

/** Whether `spec.clientConfig.service` counts as set: Cluster API treats a service without any value as absent. */
export function isServiceDefined(service: Service | undefined): service is Service {
  return (
    service !== undefined &&
    (Boolean(service.namespace) || Boolean(service.name) || Boolean(service.path) || service.port !== undefined)
  );
}

/** The names in a reference to a Service; undefined if they are not valid: they get into commands and paths. */
export function validService(service: { namespace?: unknown; name?: unknown } | undefined) {
  const { namespace, name } = service ?? {};
  const isValid =
    typeof namespace === 'string' &&
    typeof name === 'string' &&
    dns1123LabelProblems(namespace).length === 0 &&
    dns1035LabelProblems(name).length === 0;
  return isValid ? { namespace, name } : undefined;
}

/** The Service that an object names, and the port, if any; undefined for invalid names. */
export function namedService({ spec }: ExtensionConfig) {
  const service = spec?.clientConfig?.service;
  const names = validService(service);
  return names && { ...names, port: service?.port };
}
