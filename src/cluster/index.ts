export { type Cluster, connect, type Patience, StatusError } from './cluster.ts';
export { explain, Forbidden } from './forbidden.ts';
export {
  type Informer,
  type InformerChange,
  type InformerOptions,
  objectKey,
  startInformer,
} from './informer.ts';
export { KubeConfigError, loadKubeConfig } from './kubeconfig.ts';
export { type ListOptions, listPages, type Page } from './list.ts';
export { type SecretEvent, type SecretPace, type ServingSecret, watchServingSecret } from './secret-watch.ts';
export { decodeSecret, encodeData, metadataOf, secretPath, textValues } from './secrets.ts';
export { ConnectionError, ResponseError, ResponseTooLong } from './transport.ts';
export type { WatchPace } from './watch-pace.ts';
