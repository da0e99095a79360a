export { type Cluster, connect, type Patience, StatusError } from './cluster.ts';
export { explain, Forbidden } from './forbidden.ts';
export {
  type Informer,
  type InformerChange,
  type InformerOptions,
  type InformerPace,
  objectKey,
  startInformer,
} from './informer.ts';
export { KubeConfigError, loadKubeConfig } from './kubeconfig.ts';
export { type ListOptions, listPages, type Page } from './list.ts';
export { type SecretEvent, type ServingSecret, type WatchPace, watchServingSecret } from './secret-watch.ts';
export { decodeSecret, encodeData, metadataOf, secretPath, textValues } from './secrets.ts';
export { AnswerError, AnswerTooLong, ConnectionError } from './transport.ts';
