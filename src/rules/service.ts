import type { ExtensionConfig } from '../api/index.ts';
import { dns1035LabelProblems, dns1123LabelProblems } from '../kubernetes/index.ts';

type Service = NonNullable<NonNullable<NonNullable<ExtensionConfig['spec']>['clientConfig']>['service']>;

/** Whether `spec.clientConfig.service` counts as set: Cluster API treats a service without any value as absent. */
export function isServiceDefined(service: Service | undefined): service is Service {
  return (
    service !== undefined &&
    (Boolean(service.namespace) || Boolean(service.name) || Boolean(service.path) || service.port !== undefined)
  );
}

/** The Service that an object names; undefined for names that no Service can have, which must not get into commands. */
export function namedService(object: ExtensionConfig): { namespace: string; name: string } | undefined {
  const { namespace = '', name = '' } = object.spec?.clientConfig?.service ?? {};
  const isValid = dns1123LabelProblems(namespace).length === 0 && dns1035LabelProblems(name).length === 0;
  return isValid ? { namespace, name } : undefined;
}
