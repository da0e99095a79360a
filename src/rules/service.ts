import type { ExtensionConfig } from '../api/index.ts';

type Service = NonNullable<NonNullable<NonNullable<ExtensionConfig['spec']>['clientConfig']>['service']>;

/** Whether `spec.clientConfig.service` counts as set: Cluster API treats a service without any value as absent. */
export function isServiceDefined(service: Service | undefined): service is Service {
  return (
    service !== undefined &&
    (Boolean(service.namespace) || Boolean(service.name) || Boolean(service.path) || service.port !== undefined)
  );
}
