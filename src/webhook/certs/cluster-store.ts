import {
  encodeData,
  explain,
  fetchSecret,
  isStatus,
  type KubernetesClient,
  StatusError,
  secretPath,
} from '../../kubernetes/client/index.ts';
import { type JsonObject, objectAt, textValues } from '../../kubernetes/index.ts';
import { type CertificateStore, Conflict, type SecretRole } from './store.ts';

export function clusterStore(
  cluster: KubernetesClient,
  namespace: string,
  names: Readonly<Record<SecretRole, string>>,
): CertificateStore {
  return {
    describe: (role) => `Secret ${namespace}/${names[role]}`,
    async read(role) {
      const read = await fetchSecret(cluster, namespace, names[role]);
      const annotations = textValues(objectAt(read?.secret, 'metadata', 'annotations'));
      return read && { data: read.data, annotations, raw: read.secret };
    },
    async write(role, contents, from) {
      const name = names[role];
      const raw = (from?.raw ?? {}) as JsonObject;
      const metadata = objectAt(raw, 'metadata');
      const secret: JsonObject = {
        ...raw,
        apiVersion: 'v1',
        kind: 'Secret',
        type: raw.type ?? (role === 'serving' ? 'kubernetes.io/tls' : 'Opaque'),
        metadata: {
          ...metadata,
          name,
          namespace,
          labels: {
            'app.kubernetes.io/managed-by': 'extensionconfig-webhook',
            ...objectAt(metadata, 'labels'),
          },
          annotations: contents.annotations,
        },
        data: encodeData(contents.data, objectAt(raw, 'data')),
      };
      try {
        // A PUT with the resourceVersion that was read, or a POST: both fail with 409 if another client was faster.
        await (from === undefined
          ? cluster.request('POST', secretPath(namespace), secret)
          : cluster.request('PUT', secretPath(namespace, name), secret));
      } catch (error) {
        if (isStatus(error, 409) || (isStatus(error, 404) && from !== undefined)) {
          throw new Conflict(`Secret ${namespace}/${name} was changed by another client`);
        }
        if (isStatus(error, 404)) {
          throw new StatusError(404, `${error.message}: create the namespace, or name another with --namespace`);
        }
        if (isStatus(error, 422) && raw.immutable === true) {
          const remedy = 'delete it (pods keep the certificate that they have) and run certs bootstrap';
          throw new StatusError(422, `Secret ${namespace}/${name} is immutable, so nobody can change it: ${remedy}`);
        }
        throw explain(error, from === undefined ? 'create' : 'update', 'secrets', `${namespace}/${name}`);
      }
    },
  };
}
